#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/array_file.hpp"
#include "measure/head_measure.hpp"

namespace sinkproof::measure {

/// What the caller says about a file of maps (the flags of the same names); what is left out, the file must
/// settle.
struct MapsOptions {
  std::optional<std::string> array = std::nullopt;  ///< the array's name, where there are several
  /// One letter an axis, in the file's order: b sequence (batch), l layer, h head, q query, k key. Needed for
  /// 4 and 5 axes, where either of b and l may come first.
  std::optional<std::string> axes = std::nullopt;
};

/// Which map, all from 1.
struct MapIndex {
  int sequence = 1, layer = 1, head = 1;
};

/// What a file of maps holds.
struct MapsLayout {
  std::vector<std::string> arrays;  ///< one, or one a layer
  std::string axes;                 ///< of each array, in its storage order
  formats::Dtype dtype = formats::Dtype::f32;
  int sequences = 1, layers = 1, heads = 1;
  int queries = 0, keys = 0;  ///< T <= S
  std::uint64_t bytes = 0;    ///< of all maps
  std::uint64_t maps() const {
    return static_cast<std::uint64_t>(sequences) * static_cast<std::uint64_t>(layers) *
           static_cast<std::uint64_t>(heads);
  }
};

/// One map's bytes as stored.
struct StoredMap {
  std::uint64_t number = 0;  ///< in the file's order, from 0
  MapIndex index;
  std::vector<unsigned char> bytes;
};

/// The maps of an .npy, .npz or .safetensors file. Throws InputError naming the file, the array and the mend:
/// shapes that leave the axes open, arrays of different shapes, fewer keys than queries, and storage in which
/// a map's entries do not lie together.
class MapsFile {
 public:
  MapsFile(const formats::File& file, const MapsOptions& options);

  const MapsLayout& layout() const { return layout_; }
  const formats::File& file() const { return arrays_.file(); }
  /// "attn, sequence 1, layer 3, head 2": for messages.
  std::string name_of(const MapIndex& index) const;

  /// The rows of a map, which must live as long as they are used.
  MapRows rows(const StoredMap& map) const;

  /// Reads the maps one after another.
  class Reader {
   public:
    explicit Reader(const MapsFile& maps) : maps_(maps) {}
    /// The next map into `map`, whose memory is used again; false at the end.
    bool next(StoredMap& map);

   private:
    const MapsFile& maps_;
    std::uint64_t number_ = 0;
    formats::ByteSource source_;
  };

 private:
  std::vector<std::size_t> choose_arrays(const MapsOptions& options) const;
  void read_axes(const formats::StoredArray& array, const MapsOptions& options);

  formats::ArrayFile arrays_;
  std::vector<std::size_t> chosen_;
  MapsLayout layout_;
  formats::Encoding encoding_;
  std::string leading_;  ///< the letters before q and k, as stored
  bool key_first_ = false;
};

}  // namespace sinkproof::measure
