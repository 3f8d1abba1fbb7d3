#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "numeric/rational.hpp"

/// Sink metrics of attention maps. A map A is [T, S]: A[i, k] is the weight of query i on key k. Positions
/// are 1-based everywhere; the T queries are the last T of the S positions (T < S: a key-value cache).
namespace sinkproof::measure {

using numeric::Rational;

/// A real number between two ends, exact where they are equal. Kind: enclosed.
struct Value {
  Rational lower, upper;
  bool exact() const { return lower == upper; }
};
inline Value exactly(const Rational& value) {
  return {value, value};
}

/// Positions first..last, both included.
struct Range {
  long first = 1;
  long last = std::numeric_limits<int>::max();
  bool contains(long position) const { return first <= position && position <= last; }
};

/// One map, row by row: row(i, values) fills values[0..keys) with the exact weights of its i-th query, i from
/// 0.
struct MapRows {
  int queries = 0;  ///< T
  int keys = 0;     ///< S >= T
  std::function<void(int, std::span<double>)> row;
};

/// The parameters of the definitions. With the sink key K (the first of the window) and n positions from it
/// on, position r = 1..n below is K + r - 1 in the file.
struct Definitions {
  Rational epsilon = Rational(3, 10);  ///< Gu et al.: alpha_k > epsilon
  Rational tau = Rational(1, 2);       ///< dormant: mean of A[i,1] > tau
  bool normalised = true;              ///< rows sum to 1; otherwise (ReLU, sigmoid) no row sum is demanded
  Range queries = {2};                 ///< r of the queries that the leak includes
  std::optional<Rational> row_tolerance = std::nullopt;  ///< |row sum - 1|; otherwise by precision
};

/// The coarsest of the four float types on whose grid all values lie: float32 files often hold float16
/// results.
enum class Precision { bfloat16, float16, float32, float64 };
std::string_view to_string(Precision precision);
/// By how much the sum of `keys` weights, each rounded to this precision, may differ from 1: 4 units of
/// roundoff, and for every key one float32 unit (softmax accumulates in float32 at least) and half of
/// float16's smallest number.
double row_tolerance(Precision precision, int keys);

struct Leak {
  Value mean, worst;  ///< 1 - A[i,1]
  int worst_query;    ///< r where the worst is, the first of equals
  int queries;        ///< how many are included
};

/// What one map gives. A row that is all NaN, or all 0 where rows are normalised, is fully masked: it is
/// excluded and counted. An optional is empty where no query is left to include, or where the definition
/// needs rows that sum to 1.
struct HeadMeasure {
  int length = 0;     ///< n
  int queries = 0;    ///< included rows of the window
  int nan_rows = 0;   ///< excluded
  int zero_rows = 0;  ///< excluded if normalised, included otherwise

  /// Gu et al.: the mean of A[i,1] over all queries, the first included; not normalised: of
  /// A[i,1] / (row sum + 1e-8).
  std::optional<Value> alpha;
  bool sink = false;  ///< alpha > epsilon, decided exactly for the stored numbers
  /// alpha is so close to epsilon that the rounding of the stored numbers decides: 0.2 is stored as slightly
  /// more in float64, so that a mean meant as 0.3 exceeds it.
  bool near_epsilon = false;
  /// Every k with alpha_k = mean of A[i,k] over i >= k above epsilon, decided exactly. Beware of the last
  /// keys: few queries.
  std::vector<int> keys_above;

  /// Ran-Milo et al.: the mean of A[i,1] over i > n/2.
  std::optional<Value> second_half;
  /// Dormant heads: the mean of A[i,1] over all queries, and whether it exceeds tau (exactly).
  std::optional<Value> first_key;
  bool dormant = false;
  std::optional<Leak> leak;  ///< normalised only, over the queries of Definitions::queries

  std::optional<Value> entropy;  ///< mean over queries of -sum_k A[i,k] ln A[i,k], nats; normalised only
  int strongest_key = 0;  ///< the k with the largest column sum, the first of equals (exactly); 0: none
  std::optional<Value> strongest_share;  ///< that column sum over the number of queries

  // What the checks saw.
  Precision precision = Precision::bfloat16;
  double least_row_sum = 1, largest_row_sum = 1;
  double second_key = 0;   ///< mean of A[i,2] over i >= 2, a float: for the note on double BOS
  int leading_masked = 0;  ///< how many rows at the window's start are fully masked, without a gap
};

/// How many keys at the start of a map's sequence are left padding: with T = S, the rows at the start that
/// are fully masked or have weight above the diagonal (softmax over nothing but masked scores is uniform); in
/// a map from a cache, the keys at the start that no query gives weight to. Fully masked maps: S.
int leading_padding(const MapRows& map);

/// Measures one map within the window of file positions [first, last]; throws InputError (one line without
/// the file's name) that names the likely cause and the mend where the map is no causal attention map.
HeadMeasure measure_head(const MapRows& map, const Range& window, const Definitions& definitions);

/// ln x for a normal x > 0, relative error at most log_relative_error; branch-free, so that compilers
/// vectorise loops of it.
inline constexpr double log_relative_error = 1e-14;
double log_approximate(double x);

}  // namespace sinkproof::measure
