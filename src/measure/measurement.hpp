#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/head_measure.hpp"
#include "measure/maps_file.hpp"

namespace sinkproof::measure {

/// The mean of values; exact where all are.
class Mean {
 public:
  void add(const Value& value);
  void add(const Mean& other);
  int count() const { return count_; }
  std::optional<Value> value() const;  ///< nothing where nothing was added

 private:
  Value sum_{};
  int count_ = 0;
};

/// Metrics of one head over all sequences, or of all heads of a layer, or of all heads of some layers: every
/// map counts once. The order of adding does not matter.
struct Tally {
  int maps = 0;
  long queries = 0, nan_rows = 0, zero_rows = 0;
  Mean alpha, second_half, first_key, leak, entropy, strongest_share;
  int sinks = 0, dormant = 0;
  int near_epsilon = 0;  ///< maps whose alpha the rounding of the stored numbers puts above or below epsilon
  std::optional<Value> worst_leak;
  int worst_sequence = 0, worst_query = 0;  ///< where it is; the first of equals
  std::map<int, int> strongest_keys;        ///< key, from the sink key as 1: in how many maps
  std::map<int, int> keys_above;            ///< likewise the keys with alpha_k > epsilon
  Precision precision = Precision::bfloat16;
  double least_row_sum = std::numeric_limits<double>::infinity();
  double largest_row_sum = -std::numeric_limits<double>::infinity();
  double largest_second_key = 0;

  void add(const HeadMeasure& measure, int sequence);
  void add(const Tally& other);

  /// Gu et al.: the share of maps with alpha > epsilon, of those that have an alpha. Exact.
  std::optional<Rational> sink_rate() const;
  /// The share of maps that are dormant. Exact.
  std::optional<Rational> dormant_rate() const;
  /// The key that is strongest in most maps, the first of equals, and in how many; 0 where there is none.
  std::pair<int, int> strongest() const;
};

/// Which positions of each sequence are its own.
struct Windows {
  enum class Kind {
    whole,      ///< from position 1; refused where queries there are fully masked (left padding)
    automatic,  ///< after the left padding, which one more pass over the file finds
    from_key,   ///< from position `key` on
    given       ///< `ranges`, one a sequence
  };
  Kind kind = Kind::whole;
  int key = 1;
  std::vector<Range> ranges = {};
};

/// Reads windows from JSON: the number of padding tokens before each sequence [3, 0], or an attention mask of
/// zeros and ones for each ([[0, 0, 1, 1], ...]; one list for a single sequence). Throws InputError.
Windows read_padding(const formats::File& file, const MapsLayout& layout);

struct Measurement {
  MapsLayout layout;
  Definitions definitions;
  std::vector<Range> windows;             ///< of each sequence
  std::vector<std::vector<Tally>> heads;  ///< [layer][head]

  /// All heads of the layers first..last (from 1), which must be there.
  Tally layers(const Range& range) const;
};

/// Called for each map, from several threads at once.
using Visitor = std::function<void(const MapIndex&, const MapRows&)>;

/// Measures every map of the file in one pass (two where windows are automatic), holding one map a thread.
/// Throws InputError where a map cannot be used: see measure_head.
Measurement measure_maps(const MapsFile& maps, const Windows& windows, const Definitions& definitions,
                         int threads, const Visitor& visit = nullptr);

}  // namespace sinkproof::measure
