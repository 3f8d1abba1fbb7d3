#include "formats/npy.hpp"

#include <cmath>
#include <limits>

#include "support.hpp"

using namespace sinkproof::formats;
using namespace sinkproof::test;

namespace {

std::string header(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

using Values = std::vector<double>;

}  // namespace

TEST_CASE("npy: versions 1, 2 and 3") {
  const Folder folder;
  for (const int version : {1, 2, 3}) {
    CAPTURE(version);
    const Tensor tensor =
        read_npy(folder.file("x.npy", npy(header("<f4", "(2, 2)"), f32({1, -2, 0.5, 0}), version)));
    CHECK(tensor.name == "x");
    CHECK(tensor.dtype == Dtype::f32);
    CHECK(tensor.shape == Shape{2, 2});
    CHECK(tensor.values == Values{1, -2, 0.5, 0});
  }
  for (const int version : {0, 4}) {
    const auto path = folder.file("v.npy", npy(header("<f4", "(1,)"), f32({1}), version));
    check_refused([&] { read_npy(path); }, path, {"version"});
  }
}

TEST_CASE("npy: both byte orders, the three types, subnormals, NaN and infinities") {
  const Folder folder;
  const auto read = [&](const std::string& descr, const std::string& data) {
    return read_npy(folder.file("x.npy", npy(header(descr, "(2,)"), data)));
  };
  CHECK(read("<f2", little(0x3c00, 2) + little(0x0001, 2)).values == Values{1, std::ldexp(1.0, -24)});
  CHECK(read(">f2", big(0xc000, 2) + big(0x03ff, 2)).values == Values{-2, std::ldexp(1023.0, -24)});
  CHECK(read(">f4", big(0x3dcccccd, 4) + big(1, 4)).values == Values{0.1F, std::ldexp(1.0, -149)});
  CHECK(read("<f8", f64({0.1, -0.0})).values == Values{0.1, 0});
  CHECK(read(">f8", big(0x3fb999999999999a, 8) + big(1, 8)).values == Values{0.1, 0x1p-1074});
  const Tensor odd = read("<f2", little(0x7e00, 2) + little(0xfc00, 2));
  CHECK(std::isnan(odd.values[0]));
  CHECK(odd.values[1] == -std::numeric_limits<double>::infinity());
}

TEST_CASE("npy: Fortran order becomes row-major") {
  const Folder folder;
  const auto read = [&](const std::string& shape, const std::vector<float>& values) {
    return read_npy(folder.file("x.npy", npy(header("<f4", shape, true), f32(values)))).values;
  };
  CHECK(read("(2, 3)", {1, 4, 2, 5, 3, 6}) == Values{1, 2, 3, 4, 5, 6});
  CHECK(read("(2, 1, 3)", {1, 4, 2, 5, 3, 6}) == Values{1, 2, 3, 4, 5, 6});
  CHECK(read("(2, 2, 2)", {0, 4, 2, 6, 1, 5, 3, 7}) == Values{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(read("(3,)", {1, 2, 3}) == Values{1, 2, 3});
  CHECK(read("()", {7}) == Values{7});
  CHECK(read("(2, 0)", {}).empty());
  std::vector<float> many(300 * 200);  // longer than one buffer
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i);
  const Values wide = read("(300, 200)", many);
  CHECK(wide[0 * 200 + 1] == 300);
  CHECK(wide[299 * 200 + 199] == 59999);
  CHECK(wide[123 * 200 + 45] == 123 + 45 * 300);
}

TEST_CASE("npy: headers as other writers spell them") {
  const Folder folder;
  for (const char* text : {"{\"shape\": (1,), \"descr\": \"<f4\", \"fortran_order\": False}",
                           "{ 'descr' : '<f4','fortran_order':False,'shape':( 1 , ) }   \n",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (1L,)}"}) {
    CAPTURE(text);
    CHECK(read_npy(folder.file("x.npy", npy(text, f32({2})))).values == Values{2});
  }
}

TEST_CASE("npy: a broken header is refused") {
  const Folder folder;
  for (const char* text :
       {"", "{", "}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'extra': 1}",
        "{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [1]}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr: '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': __import__('os'), 'shape': (1,)}"}) {
    CAPTURE(text);
    const auto path = folder.file("broken.npy", npy(text, f32({1})));
    check_refused([&] { read_npy(path); }, path, {"'broken'"});
  }
}

TEST_CASE("npy: what holds no floats is refused, and pickles are never loaded") {
  const Folder folder;
  const auto refused = [&](const std::string& bytes, const char* word) {
    const auto path = folder.file("x.npy", bytes);
    check_refused([&] { read_npy(path); }, path, {"'x'", word});
  };
  refused(npy(header("|O", "(1,)"), "\x80\x04N."), "object array");
  refused(npy("{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (1,), }", "N."), "object array");
  refused(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "    "), "structured");
  refused(npy(header("<i8", "(1,)"), "        "), "integers");
  refused(npy(header("|u1", "(1,)"), " "), "integers");
  refused(npy(header("|b1", "(1,)"), " "), "booleans");
  refused(npy(header("<c8", "(1,)"), "        "), "complex");
  refused(npy(header("<U1", "(1,)"), "    "), "text");
  refused(npy(header("<V2", "(1,)"), "  "), "raw bytes");
  refused(npy(header("<f16", "(1,)"), std::string(16, ' ')), "unknown type");
  refused(npy(header("f4", "(1,)"), "    "), "unknown type");
  refused("\x80\x04\x95pickled bytes", "pickles are never loaded");
}

TEST_CASE("npy: lengths that do not fit are refused before anything is allocated") {
  const Folder folder;
  const auto refused = [&](const std::string& bytes, const char* word) {
    const auto path = folder.file("x.npy", bytes);
    check_refused([&] { read_npy(path); }, path, {"'x'", word});
  };
  refused("", "too short");
  refused("\x93NUMPY", "too short");
  refused(npy(header("<f4", "(2,)"), f32({1})), "truncated");
  refused(npy(header("<f4", "(1,)"), f32({1, 2})), "does not fit");
  refused(npy(header("<f4", "(1000000000000,)"), f32({1})), "does not fit");
  refused(npy(header("<f4", "(4294967296, 4294967296, 4)"), f32({1})), "does not fit");
  refused(npy(header("<f4", "(0, 4294967296, 4294967296, 4)"), ""), "does not fit");
  refused(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr'", 20), "claims 4294967295 bytes");
  refused(std::string("\x93NUMPY\x01\x00\xff\x00{'descr'", 18), "claims 255 bytes");
}

TEST_CASE("npy: the bytes written are NumPy's own") {
  const std::string bytes = npy_bytes({"x", Dtype::f32, {2, 3}, {1, 2, 3, 4, 5, 6}}, "x.npy");
  std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  head.append(128 - 10 - 1 - head.size(), ' ');
  CHECK(bytes == npy(head + "\n", f32({1, 2, 3, 4, 5, 6})));
  CHECK(npy_bytes({"x", Dtype::f64, {2}, {1, 2}}, "x.npy").find("'shape': (2,), }") != std::string::npos);
  CHECK(npy_bytes({"x", Dtype::f64, {}, {1}}, "x.npy").find("'shape': (), }") != std::string::npos);
}
