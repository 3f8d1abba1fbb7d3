#include "formats/array_file.hpp"

#include <bit>

#include "formats/npy.hpp"
#include "formats/npz.hpp"
#include "formats/safetensors.hpp"
#include "support.hpp"

using namespace sinkproof;
using formats::ArrayFile;
using formats::Dtype;
using formats::File;

namespace {

/// All values of an array, read in pieces of a few entries.
std::vector<double> values_of(const ArrayFile& arrays, std::size_t index) {
  const auto& array = arrays.arrays()[index];
  const formats::ByteSource next = arrays.stream(index);
  std::vector<double> values(*formats::entry_count(array.shape));
  for (std::size_t begin = 0; begin < values.size();) {
    const std::size_t count = std::min<std::size_t>(3, values.size() - begin);
    std::vector<unsigned char> bytes(count * formats::entry_bytes(array.encoding.dtype));
    next(bytes);
    formats::decode_entries(array.encoding, bytes, std::span(values).subspan(begin, count));
    begin += count;
  }
  return values;
}

const std::vector<double> some_values{0, 1, -0.5, 0.25, 1024, 0.125, 3, -7, 0.0625, 2};

}  // namespace

TEST_CASE("every kind of file streams what its reader loads") {
  const test::Folder folder;
  std::vector<formats::Tensor> tensors;
  for (const Dtype dtype : {Dtype::f16, Dtype::f32, Dtype::f64}) {
    tensors.push_back({std::string(to_string(dtype)), dtype, {2, 5}, some_values});
  }
  formats::write_npz(folder / "a.npz", tensors);
  tensors.push_back({"bfloat16", Dtype::bf16, {10}, some_values});
  formats::write_safetensors(folder / "a.safetensors", tensors);
  for (const char* name : {"a.npz", "a.safetensors"}) {
    CAPTURE(name);
    const File file(folder / name);
    const ArrayFile arrays(file);
    CHECK(arrays.arrays().size() == (name[2] == 'n' ? 3 : 4));
    for (std::size_t i = 0; i < arrays.arrays().size(); ++i) CHECK(values_of(arrays, i) == some_values);
    CHECK(values_of(arrays, 0) == some_values);  // and again
  }
  const auto npy = folder.file("b.npy", formats::npy_bytes(tensors[1], "b"));
  const File file(npy);
  CHECK(values_of(ArrayFile(file), 0) == some_values);
  CHECK(ArrayFile(file).arrays()[0].name == "b");
}

TEST_CASE("big-endian entries, and every float16 and bfloat16") {
  const test::Folder folder;
  std::string bytes;
  for (const double value : some_values) bytes += test::big(std::bit_cast<std::uint64_t>(value), 8);
  const auto path = folder.file(
      "big.npy", test::npy("{'descr': '>f8', 'fortran_order': False, 'shape': (10,), }\n", bytes));
  const File file(path);
  CHECK(values_of(ArrayFile(file), 0) == some_values);

  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    std::vector<unsigned char> all;
    for (unsigned bits = 0; bits < 65536; ++bits) {
      all.push_back(static_cast<unsigned char>(bits));
      all.push_back(static_cast<unsigned char>(bits >> 8));
    }
    std::vector<double> values(65536);
    formats::decode_entries({dtype, std::endian::little, false}, all, values);
    for (std::uint64_t bits = 0; bits < 65536; ++bits) {
      const bool same = std::bit_cast<std::uint64_t>(values[bits]) ==
                        std::bit_cast<std::uint64_t>(formats::decode(dtype, bits));
      if (!same) CAPTURE(bits);
      REQUIRE(same);
    }
  }
}

TEST_CASE("compressed entries stream, and a wrong CRC is found with the last byte") {
  const test::Folder folder;
  const std::string npy = test::npy_f4("(4,)", {1, 2, 3, 4});
  test::ZipEntry entry{
      .name = "x.npy", .data = test::deflated(npy), .method = 8, .size = npy.size(), .crc = test::crc32(npy)};
  {
    const File file(folder.file("good.npz", test::zip_bytes({entry})));
    CHECK(values_of(ArrayFile(file), 0) == std::vector<double>{1, 2, 3, 4});
  }
  entry.crc ^= 1;
  const auto path = folder.file("bad.npz", test::zip_bytes({entry}));
  const File file(path);
  const ArrayFile arrays(file);  // the header alone does not tell
  test::check_refused([&] { values_of(arrays, 0); }, path, {"'x'", "damaged"});
}

TEST_CASE("what is no array file, or changes while it is read, is refused") {
  const test::Folder folder;
  for (const auto& [bytes, word] : {std::pair{std::string(), "empty"},
                                    {std::string("x"), "neither .npy"},
                                    {std::string("\x80\x02}q\x01.", 6), "never loaded"}}) {
    const auto path = folder.file("a", bytes);
    test::check_refused(
        [&] {
          const File file(path);
          ArrayFile{file};
        },
        path, {word});
  }
  const auto path = folder.file("cut.npy", test::npy_f4("(4,)", {1, 2, 3, 4}));
  const File file(path);
  const ArrayFile arrays(file);
  std::filesystem::resize_file(path, file.size() - 1);
  test::check_refused([&] { values_of(arrays, 0); }, path, {"truncated or changed"});
}
