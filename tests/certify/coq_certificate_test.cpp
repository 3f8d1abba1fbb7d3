#include "certify/coq_certificate.hpp"

#include <random>
#include <sstream>

#include <doctest/doctest.h>

#include "certify/certify.hpp"
#include "certify/coq_loss.hpp"
#include "errors.hpp"
#include "formats/weights_file.hpp"
#include "numeric/big_interval.hpp"
#include "numeric/enclosure.hpp"

// The Coq side is tested by tests/app/certificate: here, that the integers are the weights and that the
// bounds are true and the least of their level.
namespace sinkproof::certify {
namespace {

using attention::Normaliser;
using numeric::Integer;
using numeric::Rational;

attention::Weights shipped(const std::string& name) {
  return formats::read_weights(SINKPROOF_DATA_DIR "/weights/" + name + ".npz");
}

TEST_CASE("the integers of a certificate are the stored floats and their products") {
  for (const char* name : {"softmax_1h1d", "relu_1h1d"}) {
    const attention::Weights weights = shipped(name);
    const CoqHead head = coq_head(weights);
    const Eigen::MatrixXd& query = weights.layers[0].heads[0].query;
    const Rational unit = numeric::power(2, head.query.exponent);
    for (Eigen::Index r = 0; r < query.rows(); ++r) {
      for (Eigen::Index s = 0; s < query.cols(); ++s) {
        const Integer& mantissa =
            head.query.mantissas[static_cast<std::size_t>(r)][static_cast<std::size_t>(s)];
        CHECK(Rational(mantissa) * unit == numeric::exact(query(r, s)));
      }
    }
    const auto model = attention::model_from<Rational>(weights, Normaliser::softmax);
    const auto& scores =
        std::get<attention::BilinearScores<Rational>>(model.layers[0].heads[0].attention).matrix;
    const IntegerMap a = score_map(head), v = value_map(head);
    for (std::size_t r = 0; r < a.entries.size(); ++r) {
      for (std::size_t s = 0; s < a.entries.size(); ++s) {
        const auto i = static_cast<Eigen::Index>(r), k = static_cast<Eigen::Index>(s);
        CHECK(Rational(a.entries[r][s], a.denominator) == scores(i, k));
        CHECK(Rational(v.entries[r][s], v.denominator) == model.layers[0].heads[0].value(i, k));
      }
    }
  }
}

TEST_CASE("a rational scale multiplies the scores; an irrational one has no certificate") {
  attention::Weights weights = shipped("softmax_1h1d");
  const IntegerMap unscaled = score_map(coq_head(weights));
  weights.scale = {.factor = 1, .inverse_sqrt_head_dimension = true};  // 1/sqrt(16)
  const IntegerMap scaled = score_map(coq_head(weights));
  CHECK(Rational(scaled.entries[3][5], scaled.denominator) * 4 ==
        Rational(unscaled.entries[3][5], unscaled.denominator));
  attention::HeadWeights& head = weights.layers[0].heads[0];
  for (Eigen::MatrixXd* matrix : {&head.query, &head.key, &head.value}) matrix->conservativeResize(15, 16);
  head.output.conservativeResize(16, 15);
  CHECK_THROWS_AS(coq_head(weights), InputError);
  CHECK_THROWS_AS(coq_head(shipped("softmax_2h2d")), InputError);
}

TEST_CASE("the integer exponentials enclose e^x") {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int> any(-40'000, 40'000);
  const Rational one(Integer(1) << 80);
  for (int k = 0; k < 500; ++k) {
    const int x = any(random);
    const auto truth = exp(numeric::from_rational<numeric::BigInterval>(Rational(x, 1000)));
    CAPTURE(x);
    CHECK(Rational(coq_exp_lower(x, 1000)) / one <= upper_end(truth));
    const auto above = coq_exp_upper(x, 1000);
    REQUIRE(above);
    CHECK(Rational(*above) / one >= lower_end(truth));
    if (std::abs(x) <= 20'000) {  // and they are as close as CertificateExp.v says
      const Rational width = 1 + numeric::power(10, -12);
      CHECK(Rational(coq_exp_lower(x, 1000)) / one * width >= lower_end(truth));
      CHECK(Rational(*above) / one <= upper_end(truth) * width);
    }
  }
  CHECK(coq_exp_lower(-1000, 1) == 0);
  CHECK(!coq_exp_upper(1000, 1));
  CHECK(coq_exp_upper(-1'000'000'000, 1));  // capped: the digits do not explode
}

TEST_CASE("fractions are the least of six digits") {
  const Fraction q = rounded_up(Rational(1, 3));
  CHECK(q.numerator == 333'334);
  CHECK(q.denominator == 1'000'000);
  CHECK(rounded_up(0).value() == 0);
  CHECK(rounded_up(Rational(123'456'789, 2)).value() == 61'728'395);
  for (const int odds : {1, 1000, 123'456'789}) {
    const Fraction leak = least_leak(odds);
    const Integer one = Integer(1) << 80;
    const auto accepted = [&](const Integer& numerator) {
      return odds * (leak.denominator - numerator) <= numerator * one;
    };
    CHECK(accepted(leak.numerator));
    CHECK_FALSE(accepted(leak.numerator - 1));
  }
}

TEST_CASE("bounds of the shipped weights") {
  const CoqHead softmax = coq_head(shipped("softmax_1h1d"));
  CHECK(coq_leak_by_sums(softmax, 16)->value() == Rational(212'521, 1'000'000'000));
  CHECK(coq_leak_by_vertices(softmax, 16)->leak.value() == Rational(206'400, 1'000'000'000));
  CHECK(coq_loss(softmax, CoqLevel::vertices, 16)->value() == Rational(243'297, 10'000'000));
  CHECK(coq_loss(softmax, CoqLevel::sums, 16)->value() == Rational(501'391, 10'000'000));
  CHECK(coq_dual_loss(softmax, 16, *coq_loss(softmax, CoqLevel::vertices, 16))->loss.value() ==
        Rational(2011, 100'000));
  const CoqHead relu = coq_head(shipped("relu_1h1d"));
  CHECK(coq_relu_weight(relu, CoqLevel::vertices).value() == 0);
  CHECK(coq_relu_loss(relu, CoqLevel::vertices, 16).value() == Rational(520'471, 10'000'000));

  // No witness attains more.
  for (const auto& [name, normaliser] :
       {std::pair{"softmax_1h1d", Normaliser::softmax}, std::pair{"relu_1h1d", Normaliser::relu}}) {
    const attention::Weights weights = shipped(name);
    const Certificate found = certify_head(weights, normaliser, {16, 13}, {.effort = Effort::fast});
    for (const CertificatePart& part : certificate_parts(coq_head(weights), normaliser, 16)) {
      const double attained = part.quantity == Quantity::loss ? found.loss.lower : found.leak.lower;
      CAPTURE(part.theorem);
      CHECK(part.bound.value() >= numeric::exact(attained));
    }
  }
}

TEST_CASE("the text names its theory, and the theory is complete") {
  const CoqHead head = coq_head(shipped("softmax_1h1d"));
  const auto parts = certificate_parts(head, Normaliser::softmax, 16);
  const auto theory = theory_files(parts);
  REQUIRE(theory.size() > 5);
  CHECK(theory.front().name == "Sums.v");
  // What is required is there, and earlier.
  std::string earlier = " ";
  for (const TheoryFile& file : theory) {
    const std::string text(file.text);
    constexpr std::string_view start = "From Sinkproof Require Import ";
    for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
      std::istringstream names(text.substr(at + start.size(), text.find('.', at) - at - start.size()));
      for (std::string name; names >> name;) CHECK(earlier.find(" " + name + " ") != std::string::npos);
    }
    earlier += std::string(file.name.substr(0, file.name.size() - 2)) + " ";
  }
  CHECK(listed_axioms().size() == 4);
  CHECK(best_parts(parts).size() == 2);
}

}  // namespace
}  // namespace sinkproof::certify
