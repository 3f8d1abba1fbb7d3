#pragma once

#include <string_view>

namespace sinkproof::numeric {

/// The three answers. `undecided` is never treated, printed or serialised as `proved`.
enum class Verdict { proved, disproved, undecided };

/// "proved", "disproved", "undecided".
constexpr std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::proved:
      return "proved";
    case Verdict::disproved:
      return "disproved";
    case Verdict::undecided:
      return "undecided";
  }
  return "undecided";
}

/// The verdict on "both hold": one disproof disproves, and only two proofs prove.
constexpr Verdict both(Verdict a, Verdict b) {
  if (a == Verdict::disproved || b == Verdict::disproved) return Verdict::disproved;
  if (a == Verdict::proved && b == Verdict::proved) return Verdict::proved;
  return Verdict::undecided;
}

}  // namespace sinkproof::numeric
