#pragma once

namespace sinkproof::numeric {

/// The nature of a number: exact (equal to the true value), enclosed (an interval that contains it) or
/// floating (rounded, no promise).
enum class Kind { undeclared, exact, enclosed, floating };

/// Every scalar declares its kind by specialising this. A scalar that has not been declared does not compile
/// in rigorous code: a generic algorithm over an unknown interval type would silently drop its rounding.
template <class T>
inline constexpr Kind kind_of = Kind::undeclared;

template <>
inline constexpr Kind kind_of<double> = Kind::floating;
template <>
inline constexpr Kind kind_of<float> = Kind::floating;

template <class T>
concept Scalar = (kind_of<T> != Kind::undeclared);

template <class T>
concept Rigorous = (kind_of<T> == Kind::exact || kind_of<T> == Kind::enclosed);

template <class T>
concept Exact = (kind_of<T> == Kind::exact);

template <class T>
concept Enclosed = (kind_of<T> == Kind::enclosed);

}  // namespace sinkproof::numeric
