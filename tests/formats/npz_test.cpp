#include "formats/npz.hpp"

#include <cstdlib>
#include <ctime>

#include <zip.h>

#include "support.hpp"

using namespace sinkproof::formats;
using namespace sinkproof::test;

namespace {

using Values = std::vector<double>;

const std::string pair = npy_f4("(2,)", {1, 2});

/// An .npz of one entry that libzip has really deflated.
std::filesystem::path compressed(const Folder& folder, const std::string& bytes) {
  const auto path = folder / "compressed.npz";
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  REQUIRE(archive != nullptr);
  const auto index =
      zip_file_add(archive, "a.npy", zip_source_buffer(archive, bytes.data(), bytes.size(), 0), 0);
  REQUIRE(zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_DEFLATE, 9) == 0);
  REQUIRE(zip_close(archive) == 0);
  return path;
}

}  // namespace

TEST_CASE("npz: stored, deflated and zip64 entries") {
  const Folder folder;
  for (const bool zip64 : {false, true}) {
    CAPTURE(zip64);
    const ZipEntry stored{.name = "a.npy", .data = pair, .zip64 = zip64};
    const ZipEntry shrunk{.name = "b.weight.npy",
                          .data = deflated(pair),
                          .method = 8,
                          .size = pair.size(),
                          .crc = crc32(pair),
                          .zip64 = zip64};
    const TensorFile file = read_npz(folder.file("x.npz", zip_bytes({stored, shrunk})));
    REQUIRE(file.tensors.size() == 2);
    CHECK(file.tensors[0].name == "a");
    CHECK(file.tensors[1].name == "b.weight");
    for (const Tensor& tensor : file.tensors) CHECK(tensor.values == Values{1, 2});
  }
  std::vector<float> zeros(100'000);
  const auto path = compressed(folder, npy_f4("(100000,)", zeros));
  CHECK(std::filesystem::file_size(path) < 2000);
  CHECK(read_npz(path).tensors.at(0).values == Values(100'000));
}

TEST_CASE("npz: what NumPy wrote is read, other arrays than floats are skipped") {
  const std::filesystem::path files = SINKPROOF_FILES_DIR;
  const TensorFile saved = read_npz(files / "savez.npz");
  REQUIRE(saved.tensors.size() == 2);
  CHECK(saved.tensors[0].shape == Shape{3, 4});
  CHECK(saved.tensors[0].values[11] == 11.0 / 8);
  CHECK(saved.tensors[1].shape.empty());
  CHECK(saved.tensors[1].values == Values{0.1});
  REQUIRE(saved.skipped.size() == 1);
  CHECK(saved.skipped[0].name == "mask");
  CHECK(saved.skipped[0].reason.find("booleans") != std::string::npos);

  const TensorFile compressed_file = read_npz(files / "compressed.npz");
  CHECK(compressed_file.tensors.at(0).values == Values(2000));
  CHECK(compressed_file.tensors.at(1).dtype == Dtype::f16);
  CHECK(compressed_file.tensors.at(1).values[5] == 5.0 / 8);

  const TensorFile orders = read_npz(files / "orders.npz");
  for (std::size_t i = 0; i < 24; ++i) CHECK(orders.tensors.at(0).values[i] == static_cast<double>(i));
  for (std::size_t i = 0; i < 12; ++i) CHECK(orders.tensors.at(1).values[i] == static_cast<double>(i) / 8);
}

TEST_CASE("npz: pickles are refused") {
  const std::filesystem::path files = SINKPROOF_FILES_DIR;
  check_refused([&] { read_npz(files / "objects.npz"); }, files / "objects.npz",
                {"'config'", "object array", "never loaded"});
  const Folder folder;
  const auto torch = folder.file("model.npz", zip_bytes({{.name = "archive/data.pkl", .data = "\x80\x02."}}));
  check_refused([&] { read_npz(torch); }, torch, {"data.pkl", "pickle", "never loaded"});
  const auto disguised =
      folder.file("x.npz", zip_bytes({{.name = "a.npy", .data = "\x80\x04N. and some more bytes"}}));
  check_refused([&] { read_npz(disguised); }, disguised, {"'a'", "pickles are never loaded"});
}

TEST_CASE("npz: entries that are no arrays are skipped") {
  const Folder folder;
  const TensorFile file = read_npz(folder.file(
      "x.npz", zip_bytes({{.name = "notes.txt", .data = "hello"}, {.name = "a.npy", .data = pair}})));
  CHECK(file.tensors.size() == 1);
  CHECK(file.skipped.at(0).name == "notes.txt");
}

TEST_CASE("npz: every truncation of an archive is refused") {
  const Folder folder;
  const std::string whole = zip_bytes({{.name = "a.npy", .data = pair}});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    const auto path = folder.file("x.npz", whole.substr(0, length));
    check_refused([&] { read_npz(path); }, path, {"save it again"});
  }
}

TEST_CASE("npz: damage is refused") {
  const Folder folder;
  const auto refused = [&](const std::vector<ZipEntry>& entries, const char* word) {
    const auto path = folder.file("x.npz", zip_bytes(entries));
    check_refused([&] { read_npz(path); }, path, {"'a'", word});
  };
  const std::string shrunk = deflated(pair);
  refused({{.name = "a.npy", .data = pair, .crc = 1}}, "CRC");
  refused({{.name = "a.npy", .data = shrunk, .method = 8, .size = pair.size(), .crc = 1}}, "CRC");
  refused({{.name = "a.npy", .data = pair}, {.name = "a.npy", .data = pair}}, "two entries");
  refused({{.name = "a.npy", .data = pair}, {.name = "a", .data = pair}}, "two entries");
  refused({{.name = "a.npy", .data = pair, .size = 10 * pair.size()}}, "contradict");
  refused({{.name = "a.npy", .data = pair, .method = 12}}, "neither stored nor deflated");
  refused({{.name = "a.npy", .data = pair, .flags = 1}}, "encrypted");
  refused(
      {{.name = "a.npy", .data = "not deflate data", .method = 8, .size = pair.size(), .crc = crc32(pair)}},
      "damaged");
  // The directory says more, or fewer, bytes than the stream inflates to.
  refused({{.name = "a.npy", .data = shrunk, .method = 8, .size = pair.size() + 4, .crc = crc32(pair)}},
          "does not fit");
  const std::string longer = npy_f4("(3,)", {1, 2, 3});
  refused({{.name = "a.npy", .data = shrunk, .method = 8, .size = longer.size(), .crc = crc32(pair)}},
          "does not fit");
  refused({{.name = "a.npy",
            .data = deflated(pair + "tail"),
            .method = 8,
            .size = pair.size(),
            .crc = crc32(pair)}},
          "damaged");
  const std::string claims_more =
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", f32({1, 2}));
  refused({{.name = "a.npy",
            .data = deflated(claims_more),
            .method = 8,
            .size = claims_more.size() + 4,
            .crc = 1}},
          "damaged");
}

TEST_CASE("npz: a bomb is refused before it is inflated") {
  const Folder folder;
  // 40 MB of zeros as float16 are 160 MB as doubles: within what deflate can do to a file of 40 kB, beyond
  // its budget.
  const std::string zeros = npy("{'descr': '<f2', 'fortran_order': False, 'shape': (20000000,), }\n",
                                std::string(40'000'000, '\0'));
  const auto path = compressed(folder, zeros);
  CHECK(std::filesystem::file_size(path) < 100'000);
  check_refused([&] { read_npz(path); }, path, {"'a'", "far more numbers", "uncompressed"});
  // The same by lying: no such stream is there.
  const std::string head = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (500000000000,), }\n", "");
  const auto liar = folder.file("liar.npz", zip_bytes({{.name = "a.npy",
                                                        .data = deflated(head),
                                                        .method = 8,
                                                        .size = head.size() + 4'000'000'000'000,
                                                        .crc = 1,
                                                        .zip64 = true}}));
  check_refused([&] { read_npz(liar); }, liar, {"'a'", "far more numbers"});
}

TEST_CASE("npz: written files read back, byte for byte the same each time and in each time zone") {
  const Folder folder;
  const std::vector<Tensor> tensors{{"W_Q.weight", Dtype::f32, {2, 2}, {1, -2, 0.5, 0}},
                                    {"half", Dtype::f16, {3}, {0x1p-24, 65504, -1}},
                                    {"wide", Dtype::f64, {}, {0.1}},
                                    {"none", Dtype::f64, {0, 2}, {}}};
  write_npz(folder / "a.npz", tensors);
  ::setenv("TZ", "Asia/Tokyo", 1);
  ::tzset();
  write_npz(folder / "b.npz", tensors);
  ::unsetenv("TZ");
  ::tzset();
  CHECK(content(folder / "a.npz") == content(folder / "b.npz"));
  CHECK(content(folder / "a.npz").substr(10, 4) == little(33 << 16, 4));  // midnight, 1 January 1980
  const TensorFile back = read_npz(folder / "a.npz");
  REQUIRE(back.tensors.size() == tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    CHECK(back.tensors[i].name == tensors[i].name);
    CHECK(back.tensors[i].dtype == tensors[i].dtype);
    CHECK(back.tensors[i].shape == tensors[i].shape);
    CHECK(back.tensors[i].values == tensors[i].values);
  }
}

TEST_CASE("npz: what cannot be written is refused and leaves nothing behind") {
  const Folder folder;
  const auto path = folder / "x.npz";
  const auto refused = [&](const std::vector<Tensor>& tensors, const char* word) {
    check_refused([&] { write_npz(path, tensors); }, path, {word});
  };
  refused({}, "no tensor");
  refused({{"a", Dtype::f32, {1}, {0.1}}}, "not exactly a float32");
  refused({{"a", Dtype::bf16, {1}, {1}}}, "no bfloat16");
  refused({{"a", Dtype::f32, {2}, {1}}}, "does not fit");
  refused({{"", Dtype::f32, {1}, {1}}}, "name");
  refused({{"a", Dtype::f32, {1}, {1}}, {"a", Dtype::f32, {1}, {1}}}, "two tensors");
  CHECK(std::filesystem::is_empty(folder.path()));
  const auto nowhere = folder / "absent/x.npz";
  check_refused(
      [&] {
        write_npz(nowhere, std::vector<Tensor>{{"a", Dtype::f32, {1}, {1}}});
      },
      nowhere, {"folder"});
}
