#include "formats/safetensors.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "formats/decode.hpp"
#include "formats/encode.hpp"
#include "formats/safetensors_header.hpp"

namespace sinkproof::formats {
namespace {

constexpr std::uint64_t prefix_bytes = 8;
constexpr std::uint64_t longest_header = 100'000'000;  // the format's own limit

struct StoredType {
  std::string_view name;
  unsigned bits;
  std::optional<Dtype> dtype;  ///< nothing: known, but no float that we read
};

constexpr std::array stored_types{
    StoredType{"F16", 16, Dtype::f16},      StoredType{"BF16", 16, Dtype::bf16},
    StoredType{"F32", 32, Dtype::f32},      StoredType{"F64", 64, Dtype::f64},
    StoredType{"BOOL", 8, std::nullopt},    StoredType{"U8", 8, std::nullopt},
    StoredType{"I8", 8, std::nullopt},      StoredType{"U16", 16, std::nullopt},
    StoredType{"I16", 16, std::nullopt},    StoredType{"U32", 32, std::nullopt},
    StoredType{"I32", 32, std::nullopt},    StoredType{"U64", 64, std::nullopt},
    StoredType{"I64", 64, std::nullopt},    StoredType{"C64", 64, std::nullopt},
    StoredType{"F8_E4M3", 8, std::nullopt}, StoredType{"F8_E5M2", 8, std::nullopt},
    StoredType{"F8_E8M0", 8, std::nullopt}, StoredType{"F6_E2M3", 6, std::nullopt},
    StoredType{"F6_E3M2", 6, std::nullopt}, StoredType{"F4", 4, std::nullopt},
};

std::uint64_t header_length(const File& file) {
  std::array<unsigned char, prefix_bytes> bytes;
  file.read_at(0, bytes);
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) length |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  return length;
}

std::string read_header(const File& file) {
  if (file.size() < prefix_bytes) {
    refuse(file.path(), "",
           file.size() == 0 ? "is empty: save it again" : "is too short for safetensors: save it again");
  }
  const std::uint64_t length = header_length(file);
  if (length > file.size() - prefix_bytes || length > longest_header) {
    refuse(file.path(), "header",
           fmt::format("claims {} bytes, but the file has {} and the format allows 100,000,000: the file is "
                       "truncated or "
                       "not a .safetensors",
                       length, file.size() - prefix_bytes));
  }
  std::string header(length, '\0');
  file.read_at(prefix_bytes, std::span(reinterpret_cast<unsigned char*>(header.data()), header.size()));
  if (!header.starts_with('{'))
    refuse(file.path(), "header", "does not begin with '{': the file is not a .safetensors");
  return header;
}

/// The entry's type; refuses what is unknown and what does not have as many bytes as its shape needs.
const StoredType& checked_type(const SafetensorsEntry& entry, const File& file) {
  const auto found = std::find_if(stored_types.begin(), stored_types.end(),
                                  [&](const StoredType& type) { return type.name == entry.dtype; });
  if (found == stored_types.end()) {
    refuse(file.path(), entry.name, "has the unknown dtype '" + shown(entry.dtype) + "': save it as F32");
  }
  const auto count = entry_count(entry.shape);  // at most 2^60: the bits do not overflow
  const bool fits = count && entry.begin <= entry.end && *count * found->bits % 8 == 0 &&
                    *count / 8 * found->bits + *count % 8 * found->bits / 8 == entry.end - entry.begin;
  if (!fits) {
    refuse(file.path(), entry.name,
           fmt::format("shape {} of {} does not fit data_offsets [{}, {}]: save the file again",
                       to_string(entry.shape), found->name, entry.begin, entry.end));
  }
  return *found;
}

/// The data must be one tensor after another, from the first byte to the last.
void refuse_gaps(const std::vector<SafetensorsEntry>& entries, std::uint64_t data_bytes, const File& file) {
  std::uint64_t end = 0;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.begin != end || entry.end > data_bytes) {
      const std::string_view what = entry.end > data_bytes ? "run outside the file"
                                    : entry.begin < end    ? "overlap the tensor before"
                                                           : "leave a hole before them";
      refuse(file.path(), entry.name,
             fmt::format("its data_offsets [{}, {}] {}: the file is truncated or damaged, save it again",
                         entry.begin, entry.end, what));
    }
    end = entry.end;
  }
  if (end != data_bytes) {
    refuse(file.path(), "header",
           fmt::format("describes {} bytes of data, but {} are there: save the file again", end, data_bytes));
  }
}

}  // namespace

bool looks_like_safetensors(const File& file) {
  if (file.size() <= prefix_bytes || header_length(file) > file.size() - prefix_bytes) return false;
  unsigned char first = 0;
  file.read_at(prefix_bytes, std::span(&first, 1));
  return first == '{';
}

StoredFile locate_safetensors(const File& file) {
  const std::string header = read_header(file);
  auto entries = parse_safetensors_header(header, file);
  std::stable_sort(entries.begin(), entries.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  const std::uint64_t data_start = prefix_bytes + header.size();
  for (const SafetensorsEntry& entry : entries) checked_type(entry, file);
  refuse_gaps(entries, file.size() - data_start, file);

  StoredFile result;
  for (const SafetensorsEntry& entry : entries) {
    const StoredType& type = checked_type(entry, file);
    if (type.dtype) {
      result.arrays.push_back(
          {entry.name, {*type.dtype, std::endian::little, false}, entry.shape, data_start + entry.begin});
    } else {
      result.skipped.push_back({entry.name, fmt::format("holds {}, not F16, BF16, F32 or F64", type.name)});
    }
  }
  return result;
}

TensorFile read_safetensors(const File& file) {
  StoredFile stored = locate_safetensors(file);
  AllocationBudget budget(file);
  TensorFile result;
  result.skipped = std::move(stored.skipped);
  for (StoredArray& array : stored.arrays) {
    budget.take(*entry_count(array.shape), array.name);
    auto values = decode_values(array.encoding, array.shape, bytes_from(file, array.offset));
    result.tensors.push_back(
        {std::move(array.name), array.encoding.dtype, std::move(array.shape), std::move(values)});
  }
  return result;
}

TensorFile read_safetensors(const std::filesystem::path& path) {
  return read_safetensors(File(path));
}

void write_safetensors(const std::filesystem::path& path, std::span<const Tensor> tensors) {
  refuse_unwritable(tensors, path);
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::string data;
  for (const Tensor& tensor : tensors) {
    if (tensor.name == "__metadata__")
      refuse(path, tensor.name, "is the format's own key: rename the tensor");
    const std::size_t begin = data.size();
    append_values(data, tensor, path);
    const auto type = std::find_if(stored_types.begin(), stored_types.end(),
                                   [&](const StoredType& stored) { return stored.dtype == tensor.dtype; });
    header[tensor.name] = {
        {"dtype", type->name}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception&) {
    refuse(path, "", "a tensor's name is not UTF-8: rename it");
  }
  text.append((8 - text.size() % 8) % 8, ' ');  // the data begin on a multiple of 8
  std::string bytes;
  for (std::size_t i = 0; i < prefix_bytes; ++i) bytes += static_cast<char>(text.size() >> (8 * i) & 0xff);
  write_atomically(path, bytes + text + data);
}

}  // namespace sinkproof::formats
