#include "theory/verify.hpp"

#include <doctest/doctest.h>

using namespace sinkproof;
using namespace theory;
using numeric::Rational, numeric::Verdict;
using task::Parameters;

namespace {

const std::vector<std::string> ids{"theorem-1",
                                   "theorem-1-prime",
                                   "theorem-2",
                                   "theorem-3",
                                   "proposition-4",
                                   "proposition-1s",
                                   "corollary-5",
                                   "b1",
                                   "b2",
                                   "b3",
                                   "b4",
                                   "b5",
                                   "b6",
                                   "b7",
                                   "b8"};

const Claim& find(const std::vector<Claim>& claims, const std::string& id) {
  for (const Claim& claim : claims) {
    if (claim.id == id) return claim;
  }
  throw std::out_of_range(id);
}

Rational exact(const std::vector<Claim>& claims, const std::string& id, const std::string& name) {
  for (const Quantity& quantity : find(claims, id).quantities) {
    if (quantity.name == name) return std::get<Exactly>(quantity.value).value;
  }
  throw std::out_of_range(id + "/" + name);
}

std::vector<std::string> silent(const std::vector<Claim>& claims) {
  std::vector<std::string> result;
  for (const Claim& claim : claims) {
    CHECK(claim.applies == claim.reason.empty());
    CHECK((claim.verdict == Verdict::proved) == claim.applies);
    CHECK(claim.verdict != Verdict::disproved);
    CHECK_FALSE(claim.statement.empty());
    CHECK_FALSE(claim.hypothesis.empty());
    if (!claim.applies) result.push_back(claim.id);
  }
  return result;
}

}  // namespace

TEST_CASE("at the paper's setting every claim is proved, with the reference values of theory.md") {
  const auto claims = verify({.task = {16, 13}});
  REQUIRE(claims.size() == ids.size());
  for (std::size_t k = 0; k < ids.size(); ++k) CHECK(claims[k].id == ids[k]);
  CHECK(silent(claims).empty());
  CHECK(exact(claims, "theorem-1", "kappa_L") == Rational(13, 60));
  CHECK(exact(claims, "theorem-1", "leak_at_most") == Rational(3, 127));
  CHECK(exact(claims, "theorem-1", "lambda_needed") == Rational(13, 1260));
  CHECK(exact(claims, "theorem-1-prime", "U_0") == Rational(1928, 13));
  CHECK(exact(claims, "theorem-1-prime", "R_needed") == Rational(13) / (2 * 1928 * 21) / 197);
  CHECK(exact(claims, "proposition-4", "q_needed") == 2985);
  CHECK(exact(claims, "proposition-4", "largest_error_seen") == Rational(1, 200));
  CHECK(exact(claims, "theorem-3", "largest_error_seen") == 0);
  CHECK(exact(claims, "b5", "v") == 200);
  for (const char* id : {"b1", "b2", "b3", "b4", "b7", "b8"}) {
    CHECK(exact(claims, id, "loss_at_most") <= Rational(1, 200));
    CHECK(exact(claims, id, "bos_weight_at_most") <= Rational(1, 2));
    CHECK(exact(claims, id, "instances_evaluated") == 5);
  }
}

TEST_CASE("the q of a boundary row is the least integer that does") {
  // Lambda of B2 is (L-1)/(q+L), of B7 L/(1+3q), of B8 1/(1+q).
  const auto claims = verify({.task = {10, 1}, .eta = Rational(1, 50)});
  CHECK(exact(claims, "b2", "q") == 9 * 50 - 10);
  CHECK(exact(claims, "b7", "q") == 167);
  CHECK(exact(claims, "b8", "q") == 49);
  const auto coarse = verify({.task = {10, 1}, .eta = 2});
  CHECK(exact(coarse, "b8", "q") == 2);
}

TEST_CASE("depth 1 and rational roots are exact") {
  const auto single = verify({.task = {16, 13}, .depth = 1});
  CHECK(exact(single, "theorem-2", "layer_sink_weight_at_least") == Rational(124, 127));
  // epsilon = 1/4 at eta = kappa/5.
  const auto pair = verify({.task = {16, 13}, .eta = Rational(13, 300), .depth = 2});
  CHECK(exact(pair, "theorem-2", "layer_sink_weight_at_least") == Rational(1, 2));
}

TEST_CASE("outside a hypothesis the claim is undecided and says which") {
  using Ids = std::vector<std::string>;
  const Parameters p(16, 2);
  const auto large_eta = verify({.task = p, .eta = Rational(13, 120)});
  CHECK(silent(large_eta) == Ids{"theorem-1", "theorem-2", "corollary-5"});
  CHECK(find(large_eta, "theorem-1").reason == "eta < kappa_L/2 fails: eta = 13/120, kappa_L/2 = 13/120");
  // The other direction is still answered.
  CHECK(exact(large_eta, "theorem-1", "lambda_needed") == Rational(13, 1260));
  CHECK(silent(verify({.task = p, .eta = 3})) ==
        Ids{"theorem-1", "theorem-2", "proposition-4", "proposition-1s", "corollary-5"});
  CHECK(silent(verify({.task = p, .eta = 0})) ==
        Ids{"proposition-4", "proposition-1s", "corollary-5", "b1", "b2", "b3", "b4", "b5", "b7", "b8"});
  CHECK(silent(verify({.task = p, .eta = -1})).size() == 12);
  CHECK(silent(verify({.task = p, .epsilon = 1})) == Ids{"theorem-1", "theorem-1-prime"});
  CHECK(silent(verify({.task = p, .delta = 0})) == Ids{"theorem-1-prime"});
  CHECK(silent(verify({.task = p, .delta = 2})) == Ids{"theorem-1-prime"});
  CHECK(silent(verify({.task = p, .depth = 0})) == Ids{"theorem-2"});
}

TEST_CASE("small, contentless and very large tasks are answered") {
  CHECK(silent(verify({.task = {4, 0}})).empty());
  CHECK(silent(verify({.task = {5, 0}, .eta = Rational(1, 1000000)})).empty());
  for (const Parameters& p : {Parameters(1 << 20, 1 << 20), Parameters(65, 1), Parameters(4, 30)}) {
    const auto claims = verify({.task = p});
    CHECK(silent(claims).empty());
    for (const char* id : {"theorem-3", "proposition-4", "b1", "b7"}) {
      CHECK(exact(claims, id, "instances_evaluated") == 0);
      CHECK(find(claims, id).statement.find("closed form only") != std::string::npos);
    }
  }
}

TEST_CASE("the direct form of Theorem 1' is used where it says something") {
  const auto claims = verify({.task = {4, 1}, .eta = Rational(1, 10000), .delta = Rational(1, 2)});
  // t = 5 eta = 1/2000, U_0 = 32: 2 U_0 t = 4/125.
  CHECK(exact(claims, "theorem-1-prime", "probable_leak_at_most") == Rational(4, 121));
}
