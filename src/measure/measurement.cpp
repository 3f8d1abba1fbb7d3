#include "measure/measurement.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "errors.hpp"
#include "formats/json_lists.hpp"

namespace sinkproof::measure {

using formats::refuse;

void Mean::add(const Value& value) {
  sum_.lower += value.lower;
  sum_.upper += value.upper;
  ++count_;
}

void Mean::add(const Mean& other) {
  sum_.lower += other.sum_.lower;
  sum_.upper += other.sum_.upper;
  count_ += other.count_;
}

std::optional<Value> Mean::value() const {
  if (count_ == 0) return std::nullopt;
  return Value{sum_.lower / count_, sum_.upper / count_};
}

void Tally::add(const HeadMeasure& measure, int sequence) {
  ++maps;
  queries += measure.queries;
  nan_rows += measure.nan_rows;
  zero_rows += measure.zero_rows;
  if (measure.alpha) alpha.add(*measure.alpha);
  if (measure.second_half) second_half.add(*measure.second_half);
  if (measure.first_key) first_key.add(*measure.first_key);
  if (measure.entropy) entropy.add(*measure.entropy);
  if (measure.strongest_share) strongest_share.add(*measure.strongest_share);
  sinks += measure.sink;
  near_epsilon += measure.near_epsilon;
  dormant += measure.dormant;
  if (measure.leak) {
    leak.add(measure.leak->mean);
    const Value& worst = measure.leak->worst;
    if (!worst_leak || worst.lower > worst_leak->lower ||
        (worst.lower == worst_leak->lower && sequence < worst_sequence)) {
      worst_leak = worst;
      worst_sequence = sequence;
      worst_query = measure.leak->worst_query;
    }
  }
  if (measure.strongest_key > 0) ++strongest_keys[measure.strongest_key];
  for (const int key : measure.keys_above) ++keys_above[key];
  if (measure.queries > 0) {
    precision = std::max(precision, measure.precision);
    least_row_sum = std::min(least_row_sum, measure.least_row_sum);
    largest_row_sum = std::max(largest_row_sum, measure.largest_row_sum);
  }
  largest_second_key = std::max(largest_second_key, measure.second_key);
}

void Tally::add(const Tally& other) {
  maps += other.maps;
  queries += other.queries;
  nan_rows += other.nan_rows;
  zero_rows += other.zero_rows;
  alpha.add(other.alpha);
  second_half.add(other.second_half);
  first_key.add(other.first_key);
  leak.add(other.leak);
  entropy.add(other.entropy);
  strongest_share.add(other.strongest_share);
  sinks += other.sinks;
  near_epsilon += other.near_epsilon;
  dormant += other.dormant;
  if (other.worst_leak && (!worst_leak || other.worst_leak->lower > worst_leak->lower)) {
    worst_leak = other.worst_leak;
    worst_sequence = other.worst_sequence;
    worst_query = other.worst_query;
  }
  for (const auto& [key, count] : other.strongest_keys) strongest_keys[key] += count;
  for (const auto& [key, count] : other.keys_above) keys_above[key] += count;
  precision = std::max(precision, other.precision);
  least_row_sum = std::min(least_row_sum, other.least_row_sum);
  largest_row_sum = std::max(largest_row_sum, other.largest_row_sum);
  largest_second_key = std::max(largest_second_key, other.largest_second_key);
}

std::optional<Rational> Tally::sink_rate() const {
  if (alpha.count() == 0) return std::nullopt;
  return Rational(sinks, alpha.count());
}

std::optional<Rational> Tally::dormant_rate() const {
  if (first_key.count() == 0) return std::nullopt;
  return Rational(dormant, first_key.count());
}

std::pair<int, int> Tally::strongest() const {
  std::pair<int, int> best{0, 0};
  for (const auto& [key, count] : strongest_keys) {
    if (count > best.second) best = {key, count};
  }
  return best;
}

Windows read_padding(const formats::File& file, const MapsLayout& layout) {
  const auto lists = formats::read_number_lists(file);
  const auto sequences = static_cast<std::size_t>(layout.sequences);
  const auto keys = static_cast<std::size_t>(layout.keys);
  Windows windows{.kind = Windows::Kind::given};
  if (lists.size() == 1 && lists[0].size() == sequences && sequences != keys) {
    for (const std::int64_t padding : lists[0]) {
      if (padding < 0 || padding >= layout.keys) {
        refuse(file.path(), "",
               fmt::format("padding {} leaves none of {} positions: write 0 to {}", padding, layout.keys,
                           layout.keys - 1));
      }
      windows.ranges.push_back({padding + 1, layout.keys});
    }
    return windows;
  }
  if (lists.size() != sequences ||
      std::any_of(lists.begin(), lists.end(), [&](const auto& list) { return list.size() != keys; })) {
    refuse(file.path(), "",
           fmt::format(
               "does not fit the maps: write {} numbers of padding tokens, or {} attention mask(s) of {} "
               "zeros and ones",
               sequences, sequences, keys));
  }
  for (const auto& list : lists) {
    Range range{0, 0};
    bool whole = true;
    for (std::size_t k = 0; k < keys; ++k) {
      if (list[k] == 0) continue;
      const auto position = static_cast<long>(k) + 1;
      whole = whole && list[k] == 1 && (range.last == 0 || range.last == position - 1);
      if (range.last == 0) range.first = position;
      range.last = position;
    }
    if (!whole || range.last == 0) {
      refuse(file.path(), "",
             "has an attention mask that is not zeros around one run of ones: packed sequences must be cut "
             "apart");
    }
    windows.ranges.push_back(range);
  }
  return windows;
}

namespace {

/// Runs work(map) for all maps on some threads. The first error in the file's order is thrown again: all
/// maps before it were begun before, and are finished.
template <class Work>
void for_each_map(const MapsFile& maps, int threads, Work work) {
  MapsFile::Reader reader(maps);
  std::mutex mutex;
  std::exception_ptr error;
  std::uint64_t error_number = 0;
  bool stop = false;
  const auto run = [&] {
    StoredMap map;
    while (true) {
      try {
        {
          const std::lock_guard lock(mutex);
          if (stop || !reader.next(map)) return;
        }
        work(map);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error || map.number < error_number) {
          error = std::current_exception();
          error_number = map.number;
        }
        stop = true;
        return;
      }
    }
  };
  std::vector<std::thread> others;
  const auto wanted =
      std::min<std::uint64_t>(static_cast<std::uint64_t>(std::max(threads, 1)), maps.layout().maps());
  for (std::uint64_t i = 1; i < wanted; ++i) others.emplace_back(run);
  run();
  for (std::thread& thread : others) thread.join();
  if (error) std::rethrow_exception(error);
}

std::vector<Range> find_windows(const MapsFile& maps, const Windows& windows, int threads) {
  const MapsLayout& layout = maps.layout();
  const auto sequences = static_cast<std::size_t>(layout.sequences);
  if (windows.kind == Windows::Kind::given) return windows.ranges;
  std::vector<Range> ranges(sequences,
                            Range{windows.kind == Windows::Kind::from_key ? windows.key : 1, layout.keys});
  if (windows.kind != Windows::Kind::automatic) return ranges;
  std::vector<int> padding(sequences, layout.keys);
  std::mutex mutex;
  for_each_map(maps, threads, [&](const StoredMap& map) {
    const int found = leading_padding(maps.rows(map));
    const std::lock_guard lock(mutex);
    int& least = padding[static_cast<std::size_t>(map.index.sequence - 1)];
    least = std::min(least, found);
  });
  for (std::size_t b = 0; b < sequences; ++b) {
    if (padding[b] < layout.keys) ranges[b].first = padding[b] + 1;
  }
  return ranges;
}

}  // namespace

Measurement measure_maps(const MapsFile& maps, const Windows& windows, const Definitions& definitions,
                         int threads, const Visitor& visit) {
  const MapsLayout& layout = maps.layout();
  Measurement result{.layout = layout,
                     .definitions = definitions,
                     .windows = find_windows(maps, windows, threads),
                     .heads = {}};
  result.heads.assign(static_cast<std::size_t>(layout.layers),
                      std::vector<Tally>(static_cast<std::size_t>(layout.heads)));
  const auto sequences = static_cast<std::size_t>(layout.sequences);
  std::vector<int> leading_masked(sequences, layout.keys);
  std::mutex mutex;
  for_each_map(maps, threads, [&](const StoredMap& map) {
    const MapRows rows = maps.rows(map);
    const auto sequence = static_cast<std::size_t>(map.index.sequence - 1);
    HeadMeasure measure;
    try {
      measure = measure_head(rows, result.windows[sequence], definitions);
    } catch (const InputError& error) {
      refuse(maps.file().path(), maps.name_of(map.index), error.what());
    }
    if (visit) visit(map.index, rows);
    const std::lock_guard lock(mutex);
    leading_masked[sequence] = std::min(leading_masked[sequence], measure.leading_masked);
    result.heads[static_cast<std::size_t>(map.index.layer - 1)][static_cast<std::size_t>(map.index.head - 1)]
        .add(measure, map.index.sequence);
  });
  if (windows.kind == Windows::Kind::whole && layout.queries == layout.keys && definitions.normalised) {
    for (std::size_t b = 0; b < sequences; ++b) {
      if (leading_masked[b] == 0) continue;
      refuse(maps.file().path(), layout.sequences > 1 ? fmt::format("sequence {}", b + 1) : layout.arrays[0],
             fmt::format(
                 "the first {} queries are fully masked in every head: probably left padding; give "
                 "--bos-column auto or --bos-column {} (or --bos-column 1 to measure key 1 all the same)",
                 leading_masked[b], leading_masked[b] + 1));
    }
  }
  return result;
}

Tally Measurement::layers(const Range& range) const {
  Tally tally;
  for (long layer = range.first; layer <= std::min<long>(range.last, layout.layers); ++layer) {
    for (const Tally& head : heads.at(static_cast<std::size_t>(layer - 1))) tally.add(head);
  }
  return tally;
}

}  // namespace sinkproof::measure
