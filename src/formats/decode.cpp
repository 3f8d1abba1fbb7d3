#include "formats/decode.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <stdexcept>

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

/// All float16 values: the conversion in software is an order of magnitude slower than a look-up.
const std::vector<float>& float16_values() {
  static const std::vector<float> values = [] {
    std::vector<float> table(65536);
    for (std::size_t bits = 0; bits < table.size(); ++bits) {
      table[bits] = static_cast<float>(decode(Dtype::f16, bits));
    }
    return table;
  }();
  return values;
}

/// Little-endian entries of type Bits; one loop a type, so that compilers vectorise it.
template <class Bits, class Convert>
void decode_little(const unsigned char* bytes, std::span<double> values, Convert convert) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    Bits bits;
    std::memcpy(&bits, bytes + i * sizeof(Bits), sizeof(Bits));
    values[i] = convert(bits);
  }
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

void decode_entries(const Encoding& encoding, std::span<const unsigned char> bytes,
                    std::span<double> values) {
  const std::size_t width = entry_bytes(encoding.dtype);
  if (bytes.size() != width * values.size())
    throw std::logic_error("decode_entries: bytes do not fit values");
  if (encoding.order != std::endian::native || std::endian::native != std::endian::little) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = decode(encoding.dtype, assemble(&bytes[i * width], width, encoding.order));
    }
    return;
  }
  switch (encoding.dtype) {
    case Dtype::f16: {
      const float* table = float16_values().data();
      return decode_little<std::uint16_t>(bytes.data(), values,
                                          [table](std::uint16_t bits) { return double{table[bits]}; });
    }
    case Dtype::bf16:
      return decode_little<std::uint16_t>(bytes.data(), values, [](std::uint16_t bits) {
        return double{std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16)};
      });
    case Dtype::f32:
      return decode_little<float>(bytes.data(), values, [](float value) { return double{value}; });
    case Dtype::f64:
      return decode_little<double>(bytes.data(), values, [](double value) { return value; });
  }
}

std::vector<double> decode_values(const Encoding& encoding, const Shape& shape, const ByteSource& next) {
  std::vector<double> values(entry_count(shape).value());
  const std::size_t width = entry_bytes(encoding.dtype);
  std::array<unsigned char, 65536> buffer;
  ColumnMajorWalk walk(shape);
  for (std::size_t done = 0; done < values.size();) {
    const std::size_t entries = std::min(buffer.size() / width, values.size() - done);
    next(std::span(buffer).first(entries * width));
    if (!encoding.column_major) {
      decode_entries(encoding, std::span(buffer).first(entries * width),
                     std::span(values).subspan(done, entries));
      done += entries;
      continue;
    }
    for (std::size_t i = 0; i < entries; ++i, ++done, walk.advance()) {
      values[walk.position()] = decode(encoding.dtype, assemble(&buffer[i * width], width, encoding.order));
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
