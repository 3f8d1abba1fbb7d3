#include "measure/head_measure.hpp"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "errors.hpp"
#include "measure/diagnose.hpp"
#include "measure/exact_sum.hpp"
#include "measure/log_kernel.hpp"

namespace sinkproof::measure {
namespace {

constexpr double unit_roundoff = DBL_EPSILON / 2;

// Pairs of doubles: a vector register of every x86-64. GCC lowers wider ones to scalar code.
constexpr std::size_t lanes = 2;
typedef double Doubles __attribute__((vector_size(lanes * sizeof(double))));
typedef std::int64_t Words __attribute__((vector_size(lanes * sizeof(std::int64_t))));

/// What one pass over a row's weights tells.
struct RowSums {
  double sum = 0;
  bool weights = true;     ///< all are finite and not negative
  std::uint64_t bits = 0;  ///< of all values, or-ed
};

RowSums sum_row(std::span<const double> row) {
  constexpr std::size_t accumulators = 4;  // independent, so that no addition waits for the one before
  Doubles sums[accumulators] = {};
  Words bits = {}, good = ~Words{};
  const auto take = [&](const double* from, Doubles& sum) __attribute__((always_inline)) {
    Doubles x;
    Words word;
    std::memcpy(&x, from, sizeof x);
    std::memcpy(&word, from, sizeof word);
    sum += x;
    bits |= word;
    good &= (x >= 0) & (x <= DBL_MAX);  // NaN fails
  };
  constexpr std::size_t step = lanes * accumulators;
  std::size_t k = 0;
  for (; k + step <= row.size(); k += step) {
    for (std::size_t j = 0; j < accumulators; ++j) take(&row[k + j * lanes], sums[j]);
  }
  if (k < row.size()) {
    double rest[step] = {};
    std::copy(row.begin() + static_cast<std::ptrdiff_t>(k), row.end(), rest);
    for (std::size_t j = 0; j < accumulators; ++j) take(&rest[j * lanes], sums[j]);
  }
  const Doubles sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  return {.sum = sum[0] + sum[1],
          .weights = (good[0] & good[1]) != 0,
          .bits = static_cast<std::uint64_t>(bits[0] | bits[1])};
}

/// -sum a ln a; 0 ln 0 = 0.
double entropy_of(std::span<const double> row) {
  // DBL_MIN keeps the logarithm finite at 0. It changes weights below 2^-969 only, whose terms are below
  // 2^-959: nothing, beside the claimed error.
  constexpr std::size_t most = 512;
  double terms[most];  // a plain loop over an array is what compilers vectorise
  double sum = 0;
  for (; !row.empty(); row = row.subspan(std::min(most, row.size()))) {
    const double* weights = row.data();
    const std::size_t count = std::min(most, row.size());
    for (std::size_t k = 0; k < count; ++k) {
      terms[k] = weights[k] * log_kernel(weights[k] + DBL_MIN);
    }
    sum -= sum_row({terms, count}).sum;
  }
  return sum;
}

Precision precision_of(std::uint64_t bits) {
  const int zeros = bits == 0 ? 64 : std::countr_zero(bits);
  if (zeros >= 52 - 7) return Precision::bfloat16;
  if (zeros >= 52 - 10) return Precision::float16;
  return zeros >= 52 - 23 ? Precision::float32 : Precision::float64;
}

double unit_roundoff_of(Precision precision) {
  switch (precision) {
    case Precision::bfloat16:
      return 0x1p-8;
    case Precision::float16:
      return 0x1p-11;
    case Precision::float32:
      return 0x1p-24;
    case Precision::float64:
      return 0x1p-53;
  }
  return 1;
}

/// The sums of columns `keys` (0-based in the file) over the rows >= from, exactly: of A[i,k], or, not
/// normalised, of A[i,k] / (row sum + 1e-8).
std::vector<Rational> exact_columns(const MapRows& map, const Range& window, bool normalised,
                                    const std::vector<int>& rows, const std::vector<int>& keys) {
  std::vector<double> row(static_cast<std::size_t>(map.keys));
  std::vector<ExactSum> sums(normalised ? keys.size() : 0);
  std::vector<Rational> quotients(normalised ? 0 : keys.size());
  const auto offset = map.keys - map.queries;
  for (const int i : rows) {
    map.row(i, row);
    Rational whole;
    if (!normalised) {
      ExactSum sum;
      for (long k = window.first - 1; k < window.last; ++k) sum.add(row[static_cast<std::size_t>(k)]);
      whole = sum.value() + Rational(1, 100'000'000);
    }
    for (std::size_t j = 0; j < keys.size(); ++j) {
      if (keys[j] > i + offset) continue;  // queries before the key do not count
      const double weight = row[static_cast<std::size_t>(keys[j])];
      if (normalised) {
        sums[j].add(weight);
      } else if (weight != 0) {
        quotients[j] += numeric::exact(weight) / whole;
      }
    }
  }
  if (normalised) {
    quotients.reserve(keys.size());
    for (const ExactSum& sum : sums) quotients.push_back(sum.value());
  }
  return quotients;
}

/// DBL_MIN covers products that fall below the normal numbers.
Value between(double sum, double relative_error) {
  return {numeric::exact(std::max(0.0, sum * (1 - relative_error) - DBL_MIN)),
          numeric::exact(sum * (1 + relative_error) + DBL_MIN)};
}

Value operator/(const Value& value, int count) {
  return {value.lower / count, value.upper / count};
}

/// All that the first pass over a map leaves.
struct Pass {
  std::vector<int> rows;          ///< included, 0-based in the file
  std::vector<double> first_key;  ///< A[i,1] of each
  std::vector<double> first_key_normalised;
  std::vector<double> columns;  ///< sums of the (normalised) columns of the window, rounded
  double entropy = 0;
  std::uint64_t bits = 0;
};

class Measurer {
 public:
  Measurer(const MapRows& map, const Range& window, const Definitions& definitions)
      : map_(map), definitions_(definitions), window_(window), offset_(map.keys - map.queries) {
    window_.last = std::min<long>(window_.last, map.keys);
    result_.length = static_cast<int>(window_.last - window_.first + 1);
    // n sums, S sums for the row, and a few more roundings; a unit roundoff twice as large covers the
    // products.
    relative_error_ = DBL_EPSILON * (result_.length + map.keys + 16);
  }

  HeadMeasure measure() {
    read_rows();
    if (result_.queries > 0) {
      gu();
      second_half_and_dormant();
      strongest();
      if (definitions_.normalised) {
        leak();
        // Terms beyond 1 are negative: a row has one at most, and it is above -0.04.
        const double error = log_relative_error + unit_roundoff * 2 * (map_.keys + 16);
        const double radius = (pass_.entropy + 0.1 * result_.queries) * error + DBL_MIN;
        result_.entropy =
            Value{numeric::exact(pass_.entropy - radius), numeric::exact(pass_.entropy + radius)} /
            result_.queries;
      }
    }
    return std::move(result_);
  }

 private:
  /// r of the file's row i.
  int position(int i) const { return static_cast<int>(i + offset_ + 2 - window_.first); }

  [[noreturn]] void refuse() const {
    throw InputError(likely_cause(map_, window_, definitions_, tolerance()));
  }

  double tolerance() const {
    return definitions_.row_tolerance ? definitions_.row_tolerance->convert_to<double>()
                                      : row_tolerance(precision_of(pass_.bits), map_.keys);
  }

  void read_rows() {
    const auto n = static_cast<std::size_t>(result_.length);
    std::vector<double> row(static_cast<std::size_t>(map_.keys));
    pass_.columns.assign(n, 0);
    double largest_outside = 0;
    double second_key = 0;
    int second_key_queries = 0;
    bool first = true;
    for (int i = static_cast<int>(std::max<long>(0, window_.first - 1 - offset_)); i + offset_ < window_.last;
         ++i) {
      map_.row(i, row);
      const auto r = static_cast<std::size_t>(position(i));
      const auto begin = static_cast<std::size_t>(window_.first - 1);
      const std::span<const double> seen = std::span(row).subspan(begin, r);
      const RowSums sums = sum_row(seen);
      const RowSums before = sum_row(std::span(row).first(begin));
      const RowSums after = sum_row(std::span(row).subspan(begin + r));
      if (!sums.weights || !before.weights || !after.weights) {
        if (!std::all_of(row.begin(), row.end(), [](double x) { return std::isnan(x); })) refuse();
        ++result_.nan_rows;
        continue;
      }
      largest_outside = std::max({largest_outside, before.sum, after.sum});
      if (sums.sum + before.sum + after.sum == 0) {
        ++result_.zero_rows;
        if (definitions_.normalised) continue;
      }
      if (first) result_.leading_masked = result_.nan_rows + result_.zero_rows;
      pass_.bits |= sums.bits;
      if (first) result_.least_row_sum = result_.largest_row_sum = sums.sum;
      first = false;
      result_.least_row_sum = std::min(result_.least_row_sum, sums.sum);
      result_.largest_row_sum = std::max(result_.largest_row_sum, sums.sum);
      pass_.rows.push_back(i);
      pass_.first_key.push_back(seen[0]);
      if (r >= 2) {
        second_key += seen[1];
        ++second_key_queries;
      }
      add(seen, sums.sum);
    }
    if (first) result_.leading_masked = result_.nan_rows + result_.zero_rows;
    result_.queries = static_cast<int>(pass_.rows.size());
    result_.precision = precision_of(pass_.bits);
    if (second_key_queries > 0) result_.second_key = second_key / second_key_queries;
    const bool sums_to_1 =
        result_.least_row_sum >= 1 - tolerance() && result_.largest_row_sum <= 1 + tolerance();
    const double outside_limit = definitions_.normalised ? tolerance() : 0;
    if ((definitions_.normalised && !sums_to_1) || !(largest_outside <= outside_limit)) refuse();
  }

  void add(std::span<const double> seen, double sum) {
    double* columns = pass_.columns.data();
    if (definitions_.normalised) {
      for (std::size_t k = 0; k < seen.size(); ++k) columns[k] += seen[k];
      pass_.entropy += entropy_of(seen);
      return;
    }
    const double factor = 1 / (sum + 1e-8);
    for (std::size_t k = 0; k < seen.size(); ++k) columns[k] += seen[k] * factor;
    pass_.first_key_normalised.push_back(seen[0] * factor);
  }

  Rational exact_sum(const std::vector<double>& terms) const {
    ExactSum sum;
    for (const double term : terms) sum.add(term);
    return sum.value();
  }

  /// Gu et al.: alpha_k for every k. A column's rounded sum decides where its error cannot matter.
  void gu() {
    const auto n = static_cast<std::size_t>(result_.length);
    std::vector<int> counts(n);  // included queries i >= k
    for (const int i : pass_.rows) ++counts[static_cast<std::size_t>(position(i) - 1)];
    for (std::size_t k = n - 1; k-- > 0;) counts[k] += counts[k + 1];

    result_.alpha = (definitions_.normalised ? exactly(exact_sum(pass_.first_key))
                                             : between(pass_.columns[0], relative_error_)) /
                    counts[0];
    const double epsilon = definitions_.epsilon.convert_to<double>();
    std::vector<int> close;
    std::vector<bool> above(n);
    for (std::size_t k = 0; k < n; ++k) {
      if (counts[k] == 0) continue;
      const double threshold = epsilon * counts[k];
      const double margin = relative_error_ * (pass_.columns[k] + std::abs(threshold)) + DBL_MIN;
      above[k] = pass_.columns[k] > threshold;
      if (!(std::abs(pass_.columns[k] - threshold) > margin)) {
        close.push_back(static_cast<int>(k + static_cast<std::size_t>(window_.first) - 1));
      }
    }
    const auto sums = exact_columns(map_, window_, definitions_.normalised, pass_.rows, close);
    for (std::size_t j = 0; j < close.size(); ++j) {
      const auto k = static_cast<std::size_t>(close[j] - window_.first + 1);
      above[k] = sums[j] > definitions_.epsilon * counts[k];
      if (k == 0) result_.alpha = exactly(sums[j] / counts[0]);
    }
    result_.sink = above[0];
    const Rational distance = abs(Rational(result_.alpha->lower - definitions_.epsilon));
    result_.near_epsilon =
        distance <= definitions_.epsilon * numeric::exact(unit_roundoff_of(result_.precision));
    for (std::size_t k = 0; k < n; ++k) {
      if (above[k]) result_.keys_above.push_back(static_cast<int>(k + 1));
    }
  }

  void second_half_and_dormant() {
    result_.first_key = exactly(exact_sum(pass_.first_key) / result_.queries);
    result_.dormant = result_.first_key->lower > definitions_.tau;
    std::vector<double> late;
    for (std::size_t j = 0; j < pass_.rows.size(); ++j) {
      if (2 * position(pass_.rows[j]) > result_.length) late.push_back(pass_.first_key[j]);
    }
    if (!late.empty()) result_.second_half = exactly(exact_sum(late) / static_cast<int>(late.size()));
  }

  void leak() {
    std::vector<double> weights;
    double least = 0;
    int worst_query = 0;
    for (std::size_t j = 0; j < pass_.rows.size(); ++j) {
      const int r = position(pass_.rows[j]);
      if (!definitions_.queries.contains(r)) continue;
      weights.push_back(pass_.first_key[j]);
      if (worst_query == 0 || weights.back() < least) {
        least = weights.back();
        worst_query = r;
      }
    }
    if (weights.empty()) return;
    const int count = static_cast<int>(weights.size());
    result_.leak =
        Leak{exactly(1 - exact_sum(weights) / count), exactly(1 - numeric::exact(least)), worst_query, count};
  }

  void strongest() {
    const auto largest = std::max_element(pass_.columns.begin(), pass_.columns.end());
    if (*largest == 0) return;
    std::vector<int> close;
    for (std::size_t k = 0; k < pass_.columns.size(); ++k) {
      if (pass_.columns[k] >= *largest * (1 - 2 * relative_error_) - DBL_MIN) {
        close.push_back(static_cast<int>(k + static_cast<std::size_t>(window_.first) - 1));
      }
    }
    std::size_t best = 0;
    if (close.size() > 1) {
      const auto sums = exact_columns(map_, window_, definitions_.normalised, pass_.rows, close);
      best = static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
      result_.strongest_share = exactly(sums[best] / result_.queries);
    } else {
      result_.strongest_share = between(*largest, relative_error_) / result_.queries;
    }
    result_.strongest_key = static_cast<int>(close[best] - window_.first + 2);
  }

  const MapRows& map_;
  const Definitions& definitions_;
  Range window_;
  long offset_;
  double relative_error_ = 0;
  Pass pass_;
  HeadMeasure result_;
};

}  // namespace

std::string_view to_string(Precision precision) {
  switch (precision) {
    case Precision::bfloat16:
      return "bfloat16";
    case Precision::float16:
      return "float16";
    case Precision::float32:
      return "float32";
    case Precision::float64:
      return "float64";
  }
  return "";
}

double row_tolerance(Precision precision, int keys) {
  // Results of float32 softmaxes are often averaged or multiplied in float64.
  const double unit = unit_roundoff_of(std::min(precision, Precision::float32));
  const double smallest = precision == Precision::float16 ? 0x1p-24 : 0;
  return 4 * unit + keys * (unit_roundoff_of(Precision::float32) + smallest / 2);
}

HeadMeasure measure_head(const MapRows& map, const Range& window, const Definitions& definitions) {
  return Measurer(map, window, definitions).measure();
}

int leading_padding(const MapRows& map) {
  std::vector<double> row(static_cast<std::size_t>(map.keys));
  const auto has_weight = [](double x) { return x > 0; };
  int padding = map.keys;
  for (int i = 0; i < map.queries; ++i) {
    map.row(i, row);
    const auto diagonal = row.begin() + (i + map.keys - map.queries);
    if (map.queries == map.keys) {
      const bool degenerate = std::none_of(row.begin(), diagonal + 1, has_weight) ||
                              std::any_of(diagonal + 1, row.end(), has_weight);
      if (!degenerate) return i;
    } else {
      const auto weight = std::find_if(row.begin(), row.end(), has_weight);
      padding = std::min(padding, static_cast<int>(weight - row.begin()));
    }
  }
  return padding;
}

double log_approximate(double x) {
  return log_kernel(x);
}

}  // namespace sinkproof::measure
