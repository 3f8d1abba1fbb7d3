#include "measure/measurement.hpp"

#include <random>

#include "attention/forward.hpp"
#include "formats/npy.hpp"
#include "formats/npz.hpp"
#include "formats/safetensors.hpp"
#include "formats/support.hpp"
#include "formats/weights_file.hpp"
#include "measure/support.hpp"
#include "measure/threshold.hpp"
#include "task/sampler.hpp"

using namespace sinkproof;
using formats::Dtype;
using measure::MapIndex;
using measure::MapsFile;
using measure::MapsOptions;
using measure::Measurement;
using measure::Metric;
using measure::Windows;
using numeric::Rational;
using numeric::Verdict;

namespace {

/// Maps [count, T, T] in float64: A[i,1] = first(map, i), the rest on the diagonal.
std::vector<double> maps_of(int count, int length, const std::function<double(int, int)>& first) {
  std::vector<double> values;
  for (int map = 0; map < count; ++map) {
    for (const auto& row : test::first_and_diagonal(length, [&](int i) { return first(map, i); })) {
      values.insert(values.end(), row.begin(), row.end());
    }
  }
  return values;
}

Measurement measured_file(const std::filesystem::path& path, const MapsOptions& options = {},
                          const Windows& windows = {}, int threads = 2,
                          const measure::Definitions& definitions = {}) {
  const formats::File file(path);
  return measure_maps(MapsFile(file, options), windows, definitions, threads);
}

void check_maps_refused(const std::filesystem::path& path, const MapsOptions& options,
                        const std::vector<std::string>& words) {
  test::check_refused(
      [&] {
        const formats::File file(path);
        MapsFile(file, options);
      },
      path, words);
}

/// A[i,1] of map number m is 2^-(m mod 8): from it the index of a map can be read.
double numbered(int map, int) {
  return 1.0 / (1 << (map % 8));
}

}  // namespace

TEST_CASE("axes: every order of sequence, layer and head, and transposed storage") {
  const test::Folder folder;
  const formats::Tensor tensor{"maps", Dtype::f64, {2, 4, 3, 3}, maps_of(8, 3, numbered)};
  const auto path = folder.file("maps.npy", formats::npy_bytes(tensor, "maps.npy"));
  check_maps_refused(path, {}, {"'maps'", "[2, 4, 3, 3]", "--axes lhqk", "bhqk"});

  const Measurement layers = measured_file(path, {.axes = "lhqk"});
  REQUIRE(layers.heads.size() == 2);
  REQUIRE(layers.heads[0].size() == 4);
  for (int m = 0; m < 8; ++m) {
    CAPTURE(m);
    const auto& tally = layers.heads[static_cast<std::size_t>(m / 4)][static_cast<std::size_t>(m % 4)];
    CHECK(tally.maps == 1);
    CHECK(tally.worst_leak->lower == 1 - numeric::exact(numbered(m, 2)));
  }
  const Measurement heads_first = measured_file(path, {.axes = "hlqk"});
  CHECK(heads_first.heads.size() == 4);
  CHECK(heads_first.heads[1][0].worst_leak->lower == Rational(1, 2));  // map 1: layer 2, head 1
  CHECK(heads_first.heads[0][1].worst_leak->lower == Rational(15, 16));

  const Measurement sequences = measured_file(path, {.axes = "bhqk"});
  CHECK(sequences.heads.size() == 1);
  CHECK(sequences.heads[0][1].maps == 2);
  CHECK(sequences.heads[0][1].leak.value()->lower == Rational(1, 2) * (Rational(1, 2) + Rational(31, 32)));
  CHECK(sequences.heads[0][1].worst_sequence == 2);
  // Sinks: (1 + 2 w) / 3 > 3/10 for every w; with epsilon 1/2 only w = 1 and 1/2 of sequence 1.
  const Measurement half = measured_file(path, {.axes = "bhqk"}, {}, 2, {.epsilon = Rational(1, 2)});
  CHECK(half.layers({1, 1}).sink_rate() == Rational(2, 8));

  std::vector<double> transposed(tensor.values.size());
  for (std::size_t m = 0; m < 8; ++m) {
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t k = 0; k < 3; ++k) transposed[9 * m + 3 * k + i] = tensor.values[9 * m + 3 * i + k];
    }
  }
  const auto other = folder.file(
      "other.npy", formats::npy_bytes({"other", Dtype::f64, {2, 4, 3, 3}, transposed}, "other.npy"));
  CHECK(measured_file(other, {.axes = "lhkq"}).layers({1, 2}).alpha.value()->lower ==
        layers.layers({1, 2}).alpha.value()->lower);
  test::check_refused([&] { measured_file(other, {.axes = "lhqk"}); }, other,
                      {"'other, layer 1, head 1'", "transposed", "--axes"});

  check_maps_refused(path, {.axes = "lhq"}, {"--axes", "q (query), k (key)"});
  check_maps_refused(path, {.axes = "lhxk"}, {"--axes"});
  check_maps_refused(path, {.axes = "hqk"}, {"3 letters", "4 axes"});
  check_maps_refused(path, {.axes = "lqhk"}, {"moveaxis"});
  check_maps_refused(path, {.axes = "qklh"}, {"moveaxis"});
  check_maps_refused(path, {.axes = "kqhl"}, {"moveaxis"});
}

TEST_CASE(
    "files: npy in either order, npz stored and with a layer an array, safetensors in every float type") {
  const test::Folder folder;
  const std::vector<double> values = maps_of(8, 3, numbered);
  const Rational expected =
      measured_file(folder.file("a.npy", formats::npy_bytes({"a", Dtype::f64, {8, 3, 3}, values}, "a")))
          .layers({1, 1})
          .alpha.value()
          ->lower;
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64}) {
    CAPTURE(to_string(dtype));
    const formats::Tensor tensor{"attn", dtype, {1, 8, 3, 3}, values};
    formats::write_safetensors(folder / "a.safetensors", std::span(&tensor, 1));
    CHECK(measured_file(folder / "a.safetensors", {.axes = "bhqk"}).layers({1, 1}).alpha.value()->lower ==
          expected);
  }
  // Layers by the number in the name, in numeric order: blocks.2 before blocks.10.
  std::vector<formats::Tensor> layers;
  for (const int layer : {10, 2}) {
    const auto begin = values.begin() + (layer == 2 ? 0 : 36);
    layers.push_back({"blocks." + std::to_string(layer) + ".attn.hook_pattern",
                      Dtype::f64,
                      {1, 4, 3, 3},
                      std::vector<double>(begin, begin + 36)});
  }
  formats::write_npz(folder / "layers.npz", layers);
  const Measurement two = measured_file(folder / "layers.npz");
  CHECK(two.layout.axes == "bhqk");
  CHECK(two.layout.arrays[0] == "blocks.2.attn.hook_pattern");
  CHECK(two.heads[0][1].worst_leak->lower == Rational(1, 2));
  CHECK(two.heads[1][0].worst_leak->lower == Rational(15, 16));
  CHECK(measured_file(folder / "layers.npz", {.array = "blocks.10.attn.hook_pattern", .axes = "bhqk"})
            .heads[0][0]
            .worst_leak->lower == Rational(15, 16));
  check_maps_refused(folder / "layers.npz", {.array = "blocks.3"},
                     {"'blocks.3'", "--array", "blocks.2.attn"});
  check_maps_refused(folder / "layers.npz", {.axes = "lhqk"}, {"leave out l"});
  layers[1].name = "mask";
  formats::write_npz(folder / "mixed.npz", layers);
  check_maps_refused(folder / "mixed.npz", {}, {"--array", "mask"});
  layers[1] = {"blocks.2.attn.hook_pattern", Dtype::f64, {1, 1, 3, 3}, std::vector<double>(9)};
  formats::write_npz(folder / "shapes.npz", layers);
  check_maps_refused(folder / "shapes.npz", {}, {"layers must be alike"});

  // Fortran order of the reversed axes is C order; of the axes themselves it is not.
  const std::string fortran =
      test::npy("{'descr': '<f8', 'fortran_order': True, 'shape': (3, 3, 8), }\n", test::f64(values));
  CHECK(measured_file(folder.file("f.npy", fortran), {.axes = "kqh"}).layers({1, 1}).alpha.value()->lower ==
        expected);
  test::check_refused([&] { measured_file(folder / "f.npy", {.axes = "qkh"}); }, folder / "f.npy",
                      {"transposed"});
  const std::string apart =
      test::npy("{'descr': '<f8', 'fortran_order': True, 'shape': (8, 3, 3), }\n", test::f64(values));
  check_maps_refused(folder.file("apart.npy", apart), {}, {"Fortran order", "ascontiguousarray"});
}

TEST_CASE("bad files are refused in one line") {
  const test::Folder folder;
  const auto npy = [&](const std::string& name, const std::string& shape, std::size_t count) {
    return folder.file(name, test::npy_f4(shape, std::vector<float>(count, 0.5F)));
  };
  check_maps_refused(folder.file("empty.npy", ""), {}, {"empty"});
  check_maps_refused(folder.file("pickle.pt", "\x80\x02}q"), {},
                     {".npy, .npz nor .safetensors", "save_file"});
  check_maps_refused(npy("one.npy", "(4,)", 4), {}, {"2 to 5 axes"});
  check_maps_refused(npy("six.npy", "(1,1,1,1,2,2)", 4), {}, {"2 to 5 axes"});
  check_maps_refused(npy("five.npy", "(1,1,1,2,2)", 4), {}, {"--axes blhqk", "--axes lbhqk"});
  check_maps_refused(npy("cross.npy", "(1,4,2)", 8), {}, {"4 queries but only 2 keys"});
  check_maps_refused(npy("many.npy", "(70000,1,1)", 70000), {}, {"70000 head(s)", "--axes"});
  check_maps_refused(npy("none.npy", "(0,2,2)", 0), {}, {"extent is 0"});
  check_maps_refused(folder.file("short.npy", test::npy_f4("(2,2)", {1, 0, 1})), {}, {"truncated"});
}

TEST_CASE("the result does not depend on the number of threads, and the first bad map is named") {
  const test::Folder folder;
  std::vector<double> values =
      maps_of(64, 5, [](int map, int i) { return 1.0 / (1 << ((map * 7 + i) % 9)); });
  const auto write = [&] {
    return folder.file("maps.npy",
                       formats::npy_bytes({"maps", Dtype::f64, {4, 4, 4, 5, 5}, values}, "maps.npy"));
  };
  const MapsOptions axes{.axes = "blhqk"};
  const auto one = measured_file(write(), axes, {}, 1).layers({1, 4});
  const auto many = measured_file(write(), axes, {}, 7).layers({1, 4});
  CHECK(one.maps == 64);
  CHECK(one.alpha.value()->lower == many.alpha.value()->lower);
  CHECK(one.entropy.value()->lower == many.entropy.value()->lower);
  CHECK(one.worst_leak->lower == many.worst_leak->lower);
  CHECK(one.worst_sequence == many.worst_sequence);
  CHECK(one.worst_query == many.worst_query);
  CHECK(one.strongest_keys == many.strongest_keys);
  CHECK(one.keys_above == many.keys_above);
  // Equal maps: the first sequence is named.
  const auto equal = folder.file(
      "equal.npy",
      formats::npy_bytes({"equal", Dtype::f64, {8, 1, 5, 5}, maps_of(8, 5, [](int, int) { return 0.5; })},
                         "equal"));
  const auto tally = measured_file(equal, {.axes = "bhqk"}, {}, 7).heads[0][0];
  CHECK(tally.worst_sequence == 1);
  CHECK(tally.worst_query == 2);
  values[25 * 21 + 10] = -3;  // sequence 2, layer 2, head 2
  values[25 * 40 + 10] = std::numeric_limits<double>::quiet_NaN();
  write();
  for (int round = 0; round < 20; ++round) {
    test::check_refused([&] { measured_file(folder / "maps.npy", axes, {}, 7); }, folder / "maps.npy",
                        {"'maps, sequence 2, layer 2, head 2'", "logits"});
  }
}

TEST_CASE("left padding: found, given as counts or as masks, or refused") {
  const test::Folder folder;
  // Two sequences of uniform attention over 4 positions; the second is padded by 2 of 6, the first by 1.
  std::vector<double> values;
  for (const int padding : {1, 2}) {
    for (int i = 1; i <= 6; ++i) {
      for (int k = 1; k <= 6; ++k) {
        values.push_back(i <= padding ? 0 : k > padding && k <= i ? 1.0 / (1 << (i - padding - 1)) : 0);
        if (i > padding && k == i && i > padding + 1)
          values.back() = 1 - (i - padding - 1) * 1.0 / (1 << (i - padding - 1));
      }
    }
  }
  const auto path =
      folder.file("pad.npy", formats::npy_bytes({"pad", Dtype::f64, {2, 1, 6, 6}, values}, "pad.npy"));
  const MapsOptions axes{.axes = "bhqk"};
  test::check_refused([&] { measured_file(path, axes); }, path,
                      {"'sequence 1'", "left padding", "--bos-column auto"});
  const Measurement found = measured_file(path, axes, {.kind = Windows::Kind::automatic});
  CHECK(found.windows[0].first == 2);
  CHECK(found.windows[1].first == 3);
  // Sequence 1: 1, 1/2, 1/4, 1/8, 1/16; sequence 2: the first four of them.
  CHECK(found.heads[0][0].alpha.value()->lower == (Rational(31, 16) / 5 + Rational(15, 8) / 4) / 2);

  const formats::File file(path);
  const auto layout = MapsFile(file, axes).layout();
  const auto padding = [&](const std::string& json) {
    return read_padding(formats::File(folder.file("pad.json", json)), layout);
  };
  for (const std::string json : {"[1, 2]", "{\"pad\": [1, 2]}", "[[0,1,1,1,1,1],[0,0,1,1,1,1]]"}) {
    CAPTURE(json);
    CHECK(measured_file(path, axes, padding(json)).heads[0][0].alpha.value()->lower ==
          found.heads[0][0].alpha.value()->lower);
  }
  // Right padding by the mask: sequence 1 ends at 5.
  CHECK(padding("[[0,1,1,1,1,0],[0,0,1,1,1,1]]").ranges[0].last == 5);
  const auto refused = [&](const std::string& json, const std::vector<std::string>& words) {
    test::check_refused([&] { padding(json); }, folder / "pad.json", words);
  };
  refused("[1, 6]", {"leaves none"});
  refused("[1]", {"2 numbers"});
  refused("[[0,1,1,1,1,1],[0,1,0,1,1,1]]", {"one run of ones"});
  refused("[[0,0,0,0,0,0],[0,1,1,1,1,1]]", {"one run of ones"});
  refused("[1, \"2\"]", {"whole numbers"});
  refused("[1, 2", {"no JSON"});
  refused("{\"a\": [1, 2], \"b\": []}", {"'b'", "second field"});
}

TEST_CASE("thresholds: three verdicts") {
  const test::Folder folder;
  // Layer 1: A[i,1] = 1; layer 2: 1/2 for i > 1, T = 4: alpha_1 = 5/8, leak 1/2, second half 1/2.
  const auto path = folder.file(
      "t.npy",
      formats::npy_bytes(
          {"t", Dtype::f64, {2, 1, 4, 4}, maps_of(2, 4, [](int m, int) { return m ? 0.5 : 1; })}, "t"));
  const Measurement measurement = measured_file(path, {.axes = "lhqk"}, {}, 1, {.epsilon = Rational(5, 8)});
  const auto verdict = [&](const std::string& text) {
    return evaluate(measure::parse_threshold(text, "--claim"), measurement).verdict;
  };
  CHECK(verdict("sink-rate <= 1/2") == Verdict::proved);  // 5/8 > 5/8 is false
  CHECK(verdict("sink-rate <= 0.4999") == Verdict::disproved);
  CHECK(verdict("sink-rate >= 1 in layer 1") == Verdict::proved);
  CHECK(verdict("sink-rate <= 0 in layers 2..2") == Verdict::proved);
  CHECK(verdict("sink-weight <= 13/16") == Verdict::proved);
  CHECK(verdict("sink-weight >= 13/16") == Verdict::proved);
  CHECK(verdict("sink-weight >= 0.8126") == Verdict::disproved);
  CHECK(verdict("second-half >= 3/4") == Verdict::proved);
  CHECK(verdict("dormant-rate <= 1/2 in layer 2") == Verdict::disproved);  // 5/8 > 1/2
  CHECK(verdict("mean-leak <= 1/4") == Verdict::proved);
  CHECK(verdict("worst-leak <= 0.49") == Verdict::disproved);
  CHECK(verdict("worst-leak <= 0.5 in layers 1..2") == Verdict::proved);
  // Entropy of layer 1 is 0, but only enclosed: at most 0 is open.
  CHECK(verdict("entropy <= 0 in layer 1") == Verdict::undecided);
  CHECK(verdict("entropy <= 1e-9 in layer 1") == Verdict::proved);
  CHECK(verdict("entropy >= 1e-9 in layer 1") == Verdict::disproved);

  const measure::Definitions no_query{.queries = {9, 9}};
  const auto claim = evaluate(measure::parse_threshold("worst-leak <= 1", "--claim"),
                              measured_file(path, {.axes = "lhqk"}, {}, 1, no_query));
  CHECK(claim.verdict == Verdict::undecided);
  CHECK(claim.reason.find("no query") != std::string::npos);

  const auto fails = [&](const std::string& text, const std::string& word) {
    std::string message;
    try {
      verdict(text);
    } catch (const InputError& error) {
      message = error.what();
    }
    CAPTURE(message);
    CHECK(message.find(word) != std::string::npos);
  };
  fails("sink-rate < 1", "METRIC <=");
  fails("sinkrate <= 1", "none of sink-rate");
  fails("sink-rate <= x", "not an exact number");
  fails("sink-rate <= 1 in layers 2..1", "no range");
  fails("sink-rate <= 1 in layers 1..3", "2 layer(s)");
  fails("sink-rate <= 1 in layer 0", "no range");
  fails("sink-rate <= 1 in layers 1..", "no range");
}

TEST_CASE("the peer models' attention, dumped and read back, gives what direct evaluation gives") {
  constexpr std::uint64_t seed = 5;
  constexpr int sequences = 3, length = 16;
  const test::Folder folder;
  for (const std::string name : {"softmax_2h2d", "softmax_4h4d"}) {
    CAPTURE(name);
    const auto weights =
        formats::read_weights(std::filesystem::path(SINKPROOF_DATA_DIR) / "weights" / (name + ".npz"));
    const auto model = attention::model_from<double>(weights, attention::Normaliser::softmax);
    const std::uint64_t layers = model.layers.size(), heads = model.layers[0].heads.size();
    const task::Parameters parameters(length, weights.dimension - 3);
    task::Sampler sampler(parameters, seed);

    // Direct evaluation, in rationals over the doubles of the forward pass.
    formats::Tensor tensor{name, Dtype::f64, {sequences, layers, heads, length, length}, {}};
    Rational alpha = 0, second_half = 0, leak = 0, worst = 0;
    int sinks = 0, dormant = 0;
    double entropy = 0;
    for (int b = 0; b < sequences; ++b) {
      const auto trace = attention::forward(model, task::tokens<double>(parameters, sampler.uniform()));
      for (const auto& layer : trace.attention) {
        for (const auto& map : layer) {
          Rational sum = 0, late = 0;
          for (int i = 0; i < length; ++i) {
            sum += numeric::exact(map(i, 0));
            if (i >= length / 2) late += numeric::exact(map(i, 0));
            if (i >= 1) worst = std::max(worst, Rational(1 - numeric::exact(map(i, 0))));
            for (int k = 0; k < length; ++k) {
              tensor.values.push_back(map(i, k));
              if (map(i, k) > 0) entropy -= map(i, k) * std::log(map(i, k)) / length;
            }
          }
          alpha += sum / length;
          second_half += late / (length / 2);
          leak += 1 - (sum - numeric::exact(map(0, 0))) / (length - 1);
          sinks += sum / length > Rational(3, 10);
          dormant += sum / length > Rational(1, 2);
        }
      }
    }
    const int maps = static_cast<int>(sequences * layers * heads);
    const auto path = folder.file(name + ".npy", formats::npy_bytes(tensor, name));
    const auto all = measured_file(path, {.axes = "blhqk"}).layers({1, static_cast<long>(layers)});
    CHECK(all.maps == maps);
    CHECK(all.alpha.value()->exact());
    CHECK(all.alpha.value()->lower == alpha / maps);
    CHECK(all.second_half.value()->lower == second_half / maps);
    CHECK(all.first_key.value()->lower == alpha / maps);
    CHECK(all.leak.value()->lower == leak / maps);
    CHECK(all.worst_leak->lower == worst);
    CHECK(all.sink_rate() == Rational(sinks, maps));
    CHECK(all.dormant_rate() == Rational(dormant, maps));
    CHECK(std::abs(all.entropy.value()->lower.convert_to<double>() - entropy / maps) < 1e-10);
  }
}
