#include "formats/decode.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace sinkproof::formats {
namespace {

std::uint64_t assemble(const unsigned char* bytes, std::size_t count, std::endian order) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = order == std::endian::little ? i : count - 1 - i;
    bits |= static_cast<std::uint64_t>(bytes[i]) << (8 * place);
  }
  return bits;
}

/// Walks the row-major positions of an array in column-major order: the first index runs fastest.
class ColumnMajorWalk {
 public:
  explicit ColumnMajorWalk(const Shape& shape) : shape_(shape), strides_(shape.size()), index_(shape.size()) {
    std::uint64_t stride = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      strides_[axis] = stride;
      stride *= shape[axis];
    }
  }

  std::uint64_t position() const { return position_; }

  void advance() {
    for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
      position_ += strides_[axis];
      if (++index_[axis] < shape_[axis]) return;
      position_ -= strides_[axis] * shape_[axis];
      index_[axis] = 0;
    }
  }

 private:
  const Shape& shape_;
  Shape strides_;
  Shape index_;
  std::uint64_t position_ = 0;
};

}  // namespace

ByteSource bytes_from(const File& file, std::uint64_t offset) {
  return [&file, offset](std::span<unsigned char> bytes) mutable {
    file.read_at(offset, bytes);
    offset += bytes.size();
  };
}

std::vector<double> decode_values(const Encoding& encoding, const Shape& shape, const ByteSource& next) {
  std::vector<double> values(entry_count(shape).value());
  const std::size_t width = entry_bytes(encoding.dtype);
  std::array<unsigned char, 65536> buffer;
  ColumnMajorWalk walk(shape);
  for (std::size_t done = 0; done < values.size();) {
    const std::size_t entries = std::min(buffer.size() / width, values.size() - done);
    next(std::span(buffer).first(entries * width));
    for (std::size_t i = 0; i < entries; ++i, ++done) {
      const double value = decode(encoding.dtype, assemble(&buffer[i * width], width, encoding.order));
      if (encoding.column_major) {
        values[walk.position()] = value;
        walk.advance();
      } else {
        values[done] = value;
      }
    }
  }
  return values;
}

AllocationBudget::AllocationBudget(const File& file)
    : file_(file), remaining_(4 * file.size() + (std::uint64_t{64} << 20)) {}

void AllocationBudget::take(std::uint64_t entries, std::string_view field) {
  if (entries > remaining_ / sizeof(double)) {
    refuse(file_.path(), field,
           "claims far more numbers than the file's size suggests: save it uncompressed (np.savez) or "
           "without this entry");
  }
  remaining_ -= entries * sizeof(double);
}

}  // namespace sinkproof::formats
