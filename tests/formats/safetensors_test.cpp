#include "formats/safetensors.hpp"

#include <cmath>
#include <limits>

#include "support.hpp"

using namespace sinkproof::formats;
using namespace sinkproof::test;

namespace {

using Values = std::vector<double>;

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

}  // namespace

TEST_CASE("safetensors: the four types, in the order of the data") {
  const Folder folder;
  const std::string header = R"({"__metadata__":{"format":"pt"},"d":)" + entry("F64", "[1]", "[16,24]") +
                             R"(,"s":)" + entry("F32", "[2,1]", "[8,16]") + R"(,"h":)" +
                             entry("F16", "[2]", "[0,4]") + R"(,"b":)" + entry("BF16", "[1,2]", "[4,8]") +
                             "}  ";
  const std::string data =
      little(0x3c00, 2) + little(1, 2) + little(0x3f80, 2) + little(0xff80, 2) + f32({0.1F, -3}) + f64({0.1});
  const TensorFile file = read_safetensors(folder.file("x.safetensors", safetensors(header, data)));
  REQUIRE(file.tensors.size() == 4);
  CHECK(file.tensors[0].name == "h");
  CHECK(file.tensors[0].values == Values{1, 0x1p-24});
  CHECK(file.tensors[1].dtype == Dtype::bf16);
  CHECK(file.tensors[1].values == Values{1, -std::numeric_limits<double>::infinity()});
  CHECK(file.tensors[2].shape == Shape{2, 1});
  CHECK(file.tensors[2].values == Values{0.1F, -3});
  CHECK(file.tensors[3].values == Values{0.1});
}

TEST_CASE("safetensors: scalars, empty tensors and no tensors") {
  const Folder folder;
  const std::string header =
      R"({"none":)" + entry("F32", "[0,3]", "[0,0]") + R"(,"scalar":)" + entry("F32", "[]", "[0,4]") + "}";
  const TensorFile file = read_safetensors(folder.file("x.safetensors", safetensors(header, f32({7}))));
  CHECK(file.tensors.at(0).values.empty());
  CHECK(file.tensors.at(1).values == Values{7});
  CHECK(read_safetensors(folder.file("empty.safetensors", safetensors("{}", ""))).tensors.empty());
}

TEST_CASE("safetensors: known types that are no floats are skipped, unknown ones refused") {
  const Folder folder;
  const std::string header = R"({"mask":)" + entry("BOOL", "[2,2]", "[0,4]") + R"(,"i":)" +
                             entry("I64", "[1]", "[4,12]") + R"(,"q":)" + entry("F4", "[2]", "[12,13]") +
                             R"(,"w":)" + entry("F32", "[1]", "[13,17]") + "}";
  const TensorFile file =
      read_safetensors(folder.file("x.safetensors", safetensors(header, std::string(13, '\1') + f32({5}))));
  CHECK(file.tensors.at(0).values == Values{5});
  REQUIRE(file.skipped.size() == 3);
  CHECK(file.skipped[1].reason.find("I64") != std::string::npos);
  const auto path = folder.file(
      "y.safetensors", safetensors(R"({"w":)" + entry("F128", "[1]", "[0,16]") + "}", std::string(16, 0)));
  check_refused([&] { read_safetensors(path); }, path, {"'w'", "unknown dtype 'F128'", "F32"});
}

TEST_CASE("safetensors: a header that is not the format's is refused") {
  const Folder folder;
  const auto refused = [&](const std::string& header, const std::vector<std::string>& words,
                           const std::string& data = f32({1})) {
    CAPTURE(header.substr(0, 100));
    const auto path = folder.file("x.safetensors", safetensors(header, data));
    check_refused([&] { read_safetensors(path); }, path, words);
  };
  const std::string good = entry("F32", "[1]", "[0,4]");
  refused(R"({"w":)" + good + R"(,"w":)" + good + "}", {"'w'", "twice"});
  refused(R"({"w":)" + good + R"(,"\u0077":)" + good + "}", {"'w'", "twice"});
  refused(R"({"w":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
          {"'w'", "'dtype' twice"});
  refused(R"({"w":{"dtype":"F32","shape":[1]}})", {"'w'", "lacks"});
  refused(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}})", {"'w'", "unknown field 'x'"});
  refused(R"({"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", {"'w'", "'shape'"});
  refused(R"({"w":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", {"'w'", "'shape'"});
  refused(R"({"w":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4]}})", {"'w'", "'shape'"});
  refused(R"({"w":{"dtype":"F32","shape":[[1]],"data_offsets":[0,4]}})", {"'w'", "'shape'"});
  refused(R"({"w":{"dtype":"F32","shape":[{}],"data_offsets":[0,4]}})", {"'w'", "nested"});
  refused(R"({"w":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})", {"'w'", "'shape'"});
  refused(R"({"w":{"dtype":32,"shape":[1],"data_offsets":[0,4]}})", {"'w'", "'dtype'"});
  refused(R"({"w":{"dtype":null,"shape":[1],"data_offsets":[0,4]}})", {"'w'", "'dtype'"});
  refused(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,2,4]}})", {"'w'", "'data_offsets'"});
  refused(R"({"w":{"dtype":"F32","shape":"[1]","data_offsets":[0,4]}})", {"'w'", "'shape'"});
  refused(R"({"w":[1]})", {"'w'", "description"});
  refused(R"({"w":1})", {"'w'", "description"});
  refused(R"({"__metadata__":{"a":1},"w":)" + good + "}", {"'__metadata__'", "'a'"});
  refused(R"({"__metadata__":{"a":{}},"w":)" + good + "}", {"'__metadata__'", "nested"});
  refused(R"({"w":)" + good, {"no JSON"});
  refused(R"({"w":)" + good + "} {}", {"no JSON"});
  refused("{\"w\xff\":" + good + "}", {"no JSON"});
  refused("[]", {"'{'"});
  refused(" {}", {"'{'"});
  refused(R"({"w":)" + entry("F32", "[" + std::string(99, '1') + "]", "[0,4]") + "}", {"'w'", "'shape'"});
  std::string axes = "1";
  for (int i = 0; i < 64; ++i) axes += ",1";
  refused(R"({"w":)" + entry("F32", "[" + axes + "]", "[0,4]") + "}", {"'w'", "64 axes"});
}

TEST_CASE("safetensors: deep nesting ends in a refusal, not in a crash") {
  const Folder folder;
  for (const char* opening : {"{\"a\":", "["}) {
    std::string header = "{\"a\":";
    for (int i = 0; i < 1'000'000; ++i) header += opening;
    const auto path = folder.file("deep.safetensors", safetensors(header, ""));
    check_refused([&] { read_safetensors(path); }, path, {"'a'"});
  }
}

TEST_CASE(
    "safetensors: offsets that overlap, leave holes, run outside or disagree with the shape are refused") {
  const Folder folder;
  const auto refused = [&](const std::string& a, const std::string& b, const char* field, const char* word) {
    const auto path =
        folder.file("x.safetensors", safetensors(R"({"a":)" + a + R"(,"b":)" + b + "}", f32({1, 2})));
    check_refused([&] { read_safetensors(path); }, path, {field, word});
  };
  const std::string first = entry("F32", "[1]", "[0,4]");
  refused(first, first, "'b'", "overlap");
  refused(entry("F32", "[2]", "[0,8]"), entry("F32", "[1]", "[4,8]"), "'b'", "overlap");
  refused(first, entry("F32", "[0]", "[8,8]"), "'b'", "hole");
  refused(entry("F32", "[1]", "[4,8]"), entry("F32", "[0]", "[4,4]"), "'b'", "hole");
  refused(first, entry("F32", "[2]", "[4,12]"), "'b'", "outside");
  refused(first, entry("F32", "[0]", "[4,4]"), "'header'", "4 bytes of data, but 8");
  refused(first, entry("F32", "[2]", "[4,8]"), "'b'", "does not fit");
  refused(first, entry("F16", "[1]", "[4,8]"), "'b'", "does not fit");
  refused(first, entry("F32", "[1]", "[8,4]"), "'b'", "does not fit");
  refused(first, entry("F32", "[4294967296,4294967296,4]", "[4,8]"), "'b'", "does not fit");
  refused(first, entry("F32", "[0,4294967296,4294967296,4]", "[4,4]"), "'b'", "does not fit");
  refused(first, entry("F32", "[1]", "[18446744073709551612,18446744073709551615]"), "'b'", "does not fit");
  refused(first, entry("F32", "[1000000000000]", "[4,4000000000004]"), "'b'", "outside");
  refused(first, entry("F4", "[3]", "[4,5]"), "'b'", "does not fit");
}

TEST_CASE(
    "safetensors: header lengths beyond the file or the format are refused before anything is allocated") {
  const Folder folder;
  const auto refused = [&](const std::string& bytes, const char* word) {
    const auto path = folder.file("x.safetensors", bytes);
    check_refused([&] { read_safetensors(path); }, path, {word});
  };
  refused("", "empty");
  refused("1234567", "too short");
  refused(little(~0ull, 8) + "{}", "claims 18446744073709551615 bytes");
  refused(little(3, 8) + "{}", "claims 3 bytes");
  refused(little(0, 8) + "{}", "'{'");
  const auto sparse = folder.file("long.safetensors", little(100'000'001, 8) + "{");
  std::filesystem::resize_file(sparse, 100'000'100);
  check_refused([&] { read_safetensors(sparse); }, sparse, {"100,000,000"});
  const std::string whole = safetensors(R"({"w":)" + entry("F32", "[1]", "[0,4]") + "}", f32({1}));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    const auto path = folder.file("cut.safetensors", whole.substr(0, length));
    check_refused([&] { read_safetensors(path); }, path, {});
  }
}

TEST_CASE("safetensors: golden bytes of the writer, and reading back") {
  const Folder folder;
  const std::vector<Tensor> tensors{{"w", Dtype::f32, {1, 2}, {1, -0.5}}, {"b\"\n", Dtype::bf16, {}, {256}}};
  write_safetensors(folder / "x.safetensors", tensors);
  std::string header = R"({"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
                       R"("b\"\n":{"dtype":"BF16","shape":[],"data_offsets":[8,10]}})";
  header.append((8 - header.size() % 8) % 8, ' ');
  CHECK(content(folder / "x.safetensors") == safetensors(header, f32({1, -0.5}) + little(0x4380, 2)));
  const TensorFile back = read_safetensors(folder / "x.safetensors");
  CHECK(back.tensors.at(0).values == Values{1, -0.5});
  CHECK(back.tensors.at(1).name == "b\"\n");
  CHECK(back.tensors.at(1).values == Values{256});
}

TEST_CASE("safetensors: what cannot be written is refused and leaves nothing behind") {
  const Folder folder;
  const auto path = folder / "x.safetensors";
  const auto refused = [&](const std::vector<Tensor>& tensors, const char* word) {
    check_refused([&] { write_safetensors(path, tensors); }, path, {word});
  };
  refused({{"a", Dtype::f16, {1}, {0.1}}}, "not exactly a float16");
  refused({{"__metadata__", Dtype::f32, {1}, {1}}}, "own key");
  refused({{"a\xff", Dtype::f32, {1}, {1}}}, "UTF-8");
  refused({{"a", Dtype::f32, {1}, {1}}, {"a", Dtype::f32, {1}, {1}}}, "two tensors");
  CHECK(std::filesystem::is_empty(folder.path()));
}
