#include "formats/npy.hpp"

#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "formats/encode.hpp"
#include "formats/npy_header.hpp"

namespace sinkproof::formats {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::uint64_t longest_header = 1 << 20;

bool holds_objects(const NpyHeader& header) {
  if (!header.structured) return header.descr.find('O') != std::string::npos;
  for (const char* object : {"|O", "<O", ">O", "=O", "'O'", "\"O\""}) {
    if (header.descr.find(object) != std::string::npos) return true;
  }
  return false;
}

/// The encoding of "<f4" and its kind, or why there is none.
std::variant<Encoding, std::string> encoding_of(const NpyHeader& header) {
  if (header.structured) return "structured arrays are not floats";
  const std::string& descr = header.descr;
  Encoding encoding;
  encoding.column_major = header.fortran_order;
  if (descr.size() == 3 && (descr[0] == '<' || descr[0] == '>') && descr[1] == 'f') {
    encoding.order = descr[0] == '<' ? std::endian::little : std::endian::big;
    if (descr[2] == '2') return encoding.dtype = Dtype::f16, encoding;
    if (descr[2] == '4') return encoding.dtype = Dtype::f32, encoding;
    if (descr[2] == '8') return encoding.dtype = Dtype::f64, encoding;
  }
  const char kind = descr.size() < 2 ? '\0' : descr[1];
  const std::string_view what = kind == 'b'                  ? "booleans"
                                : kind == 'i' || kind == 'u' ? "integers"
                                : kind == 'c'                ? "complex numbers"
                                : kind == 'S' || kind == 'U' ? "text"
                                : kind == 'V'                ? "raw bytes (bfloat16 has no .npy type)"
                                                             : "an unknown type";
  return fmt::format("holds {} ({}), not float16, float32 or float64", what, shown(descr));
}

/// Reads the magic and the header; returns it and the bytes it took.
std::pair<NpyHeader, std::uint64_t> read_header(const ByteSource& next, std::uint64_t length,
                                                const File& file, const std::string& name) {
  std::array<unsigned char, 12> head{};
  if (length < 10) refuse(file.path(), name, "is too short for an .npy array: save it again (numpy.save)");
  next(std::span(head).first(8));
  if (std::string_view(reinterpret_cast<const char*>(head.data()), magic.size()) != magic) {
    refuse(file.path(), name,
           "is not in .npy format (pickles are never loaded): save it with numpy.save or numpy.savez");
  }
  const unsigned major = head[6];
  if (major < 1 || major > 3 || head[7] != 0) {
    refuse(file.path(), name,
           fmt::format(".npy version {}.{} is unknown: save it as 1.0, 2.0 or 3.0", major, head[7]));
  }
  const std::size_t width = major == 1 ? 2 : 4;
  if (length < 8 + width) refuse(file.path(), name, "the .npy header is truncated: save it again");
  next(std::span(head).subspan(8, width));
  std::uint64_t header_length = 0;
  for (std::size_t i = 0; i < width; ++i) header_length |= static_cast<std::uint64_t>(head[8 + i]) << (8 * i);
  if (header_length > longest_header || header_length > length - 8 - width) {
    refuse(
        file.path(), name,
        fmt::format("the .npy header claims {} bytes, more than there are or than make sense: save it again",
                    header_length));
  }
  std::string text(header_length, '\0');
  next(std::span(reinterpret_cast<unsigned char*>(text.data()), text.size()));
  try {
    return {parse_npy_header(text), 8 + width + header_length};
  } catch (const std::invalid_argument& error) {
    refuse(file.path(), name, fmt::format("{}: save it again (numpy.save)", shown(error.what())));
  }
}

}  // namespace

std::variant<StoredArray, Skipped> locate_npy(const ByteSource& next, std::uint64_t length, const File& file,
                                              const std::string& name) {
  const auto [header, header_bytes] = read_header(next, length, file, name);
  if (holds_objects(header)) {
    refuse(file.path(), name,
           "is an object array (a pickle), which is never loaded: save plain float arrays only");
  }
  const auto encoding = encoding_of(header);
  if (const auto* reason = std::get_if<std::string>(&encoding)) return Skipped{name, *reason};
  const auto& known = std::get<Encoding>(encoding);

  const auto count = entry_count(header.shape);
  const std::uint64_t there = length - header_bytes;
  const std::size_t width = entry_bytes(known.dtype);
  if (!count || there % width != 0 || there / width != *count) {
    refuse(file.path(), name,
           fmt::format("shape {} of {} does not fit the {} bytes of data: the array is truncated or damaged, "
                       "save it again",
                       to_string(header.shape), to_string(known.dtype), there));
  }
  return StoredArray{name, known, header.shape, header_bytes};
}

StoredArray locate_npy(const File& file) {
  auto entry = locate_npy(bytes_from(file, 0), file.size(), file, file.path().stem().string());
  if (const auto* skipped = std::get_if<Skipped>(&entry)) {
    refuse(file.path(), skipped->name, skipped->reason + ": convert it (astype)");
  }
  return std::get<StoredArray>(std::move(entry));
}

std::variant<Tensor, Skipped> read_npy(const ByteSource& next, std::uint64_t length, const File& file,
                                       const std::string& name, AllocationBudget& budget) {
  auto entry = locate_npy(next, length, file, name);
  if (auto* skipped = std::get_if<Skipped>(&entry)) return std::move(*skipped);
  const auto& array = std::get<StoredArray>(entry);
  budget.take(*entry_count(array.shape), name);
  return Tensor{name, array.encoding.dtype, array.shape, decode_values(array.encoding, array.shape, next)};
}

Tensor read_npy(const File& file) {
  const StoredArray array = locate_npy(file);
  AllocationBudget(file).take(*entry_count(array.shape), array.name);
  return {array.name, array.encoding.dtype, array.shape,
          decode_values(array.encoding, array.shape, bytes_from(file, array.offset))};
}

Tensor read_npy(const std::filesystem::path& path) {
  return read_npy(File(path));
}

std::string npy_bytes(const Tensor& tensor, const std::filesystem::path& path) {
  if (tensor.dtype == Dtype::bf16) {
    refuse(path, tensor.name, "NumPy has no bfloat16: write float32, or a .safetensors file");
  }
  std::string extents;
  for (const std::uint64_t extent : tensor.shape) extents += fmt::format("{},", extent) + " ";
  if (!extents.empty()) extents.pop_back();
  if (tensor.shape.size() > 1) extents.pop_back();
  std::string header = fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({}), }}",
                                   entry_bytes(tensor.dtype), extents);
  header.append(63 - (magic.size() + 4 + header.size()) % 64, ' ');  // NumPy aligns the data to 64 bytes
  header += '\n';
  if (header.size() > 0xffff) refuse(path, tensor.name, "has too many axes: reshape it");

  std::string bytes(magic);
  bytes += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  bytes += header;
  append_values(bytes, tensor, path);
  return bytes;
}

}  // namespace sinkproof::formats
