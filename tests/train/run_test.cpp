// Whole runs: stop rules, divergence, checkpoints that resume to the same bits.
#include "train/run.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include <unistd.h>

#include <doctest/doctest.h>

#include "errors.hpp"
#include "formats/npz.hpp"
#include "train/checkpoint.hpp"
#include "train/presets.hpp"
#include "train/reference.hpp"

using namespace sinkproof;
using attention::Normaliser;
using train::Run;
using train::Settings;
using train::StopReason;

namespace {

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("sinkproof-train-" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

Settings small() {
  return {.length = 6,
          .dimension = 5,
          .batch = 24,
          .steps = 60,
          .learning_rate = 1e-2,
          .log_every = 7,
          .probes = 8};
}

bool same_weights(const Run& a, const Run& b) {
  const auto wa = a.weights(), wb = b.weights();
  const auto ma = train::matrices(wa), mb = train::matrices(wb);
  if (ma.size() != mb.size()) return false;
  for (std::size_t k = 0; k < ma.size(); ++k) {
    if (*ma[k] != *mb[k]) return false;
  }
  return true;
}

/// All but the speeds.
bool same_log(const Run& a, const Run& b) {
  if (a.log().size() != b.log().size()) return false;
  for (std::size_t k = 0; k < a.log().size(); ++k) {
    const auto &x = a.log()[k], &y = b.log()[k];
    if (x.step != y.step || x.loss != y.loss || x.linf != y.linf || x.leak_mean != y.leak_mean ||
        x.leak_max != y.leak_max) {
      return false;
    }
  }
  return true;
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a run logs, stops after its steps, and says so") {
  Run run(small());
  CHECK(run.stop_reason() == StopReason::interrupted);
  CHECK(!run.finished());
  std::vector<long> steps;
  train::Observer observer;
  observer.log = [&](const train::LogRecord& record) { steps.push_back(record.step); };
  CHECK(run.train(observer) == StopReason::steps_done);
  CHECK(run.finished());
  CHECK(run.step() == 60);
  CHECK(steps == std::vector<long>{0, 7, 14, 21, 28, 35, 42, 49, 56, 60});
  CHECK(run.log().size() == steps.size());
  CHECK(run.log().back().loss < run.log().front().loss);
  CHECK(run.train(observer) == StopReason::steps_done);
  CHECK(steps.size() == 10);  // nothing happened
}

TEST_CASE("the paper's stop rule: the first batch whose largest error is below") {
  Settings settings = small();
  settings.stop_error = 0.9;
  settings.steps = 5000;
  settings.log_every = 1;
  Run run(settings);
  CHECK(run.train() == StopReason::stop_error);
  CHECK(run.log().back().linf < 0.9);
  for (std::size_t k = 0; k + 1 < run.log().size(); ++k) CHECK(run.log()[k].linf >= 0.9);
}

TEST_CASE("the worst-case rule asks only where the batch is below, and stops below") {
  Settings settings = small();
  settings.stop_error = 0;
  settings.stop_worst_case = 0.9;
  settings.steps = 5000;
  Run run(settings);
  int asked = 0;
  train::Observer observer;
  observer.worst_case = [&](const attention::Weights& weights) {
    CHECK(weights.dimension == 5);
    return ++asked < 3 ? 0.95 : asked == 3 ? std::nan("") : 0.89;
  };
  CHECK(run.train(observer) == StopReason::worst_case);
  CHECK(asked == 4);
  CHECK(run.log().back().linf < 0.9);
}

TEST_CASE("divergence stops, is no improvement, and stays after a resumption") {
  Folder folder;
  Settings settings = small();
  settings.normaliser = Normaliser::relu;
  settings.learning_rate = 1e5;
  settings.stop_error = 0.1;
  Run run(settings);
  CHECK(run.train() == StopReason::diverged);
  CHECK(!std::isfinite(run.log().back().loss));
  run.save(folder.path / "c.npz");
  Run again = Run::resume(folder.path / "c.npz");
  CHECK(again.finished());
  CHECK(again.train() == StopReason::diverged);
}

TEST_CASE("an interrupted run resumes to the same bits, on another number of threads, from any step") {
  Folder folder;
  for (const Normaliser normaliser : {Normaliser::softmax, Normaliser::relu}) {
    for (const long size : {1, 2}) {
      Settings settings = small();
      settings.normaliser = normaliser;
      settings.layers = settings.heads = size;
      Run whole(settings);
      whole.train();
      for (const long at : {0, 1, 7, 8, 33, 60}) {
        CAPTURE(at);
        Run part(settings, {.threads = 2});
        train::Observer observer;
        observer.interrupted = [&] { return part.step() >= at; };
        CHECK(part.train(observer) == StopReason::interrupted);
        CHECK(part.step() == at);
        const auto file = folder.path / "checkpoint.npz";
        part.save(file);
        Run resumed = Run::resume(file, {.threads = 3});
        CHECK(resumed.settings() == settings);
        CHECK(resumed.train() == StopReason::steps_done);
        CHECK(same_weights(resumed, whole));
        CHECK(same_log(resumed, whole));
        CHECK(same_weights(part, Run::resume(file)));
        CHECK(part.train() == StopReason::steps_done);  // the interrupted run itself can go on, too
        CHECK(same_weights(part, whole));
      }
    }
  }
}

TEST_CASE("a checkpoint saved by the log observer resumes to the same bits") {
  Folder folder;
  Run whole(small());
  whole.train();
  Run part(small());
  train::Observer observer;
  observer.log = [&](const train::LogRecord& record) {
    if (record.step == 28) {
      part.save(folder.path / "c.npz");
      throw std::runtime_error("the disk is full");
    }
  };
  CHECK_THROWS_AS(part.train(observer), std::runtime_error);
  Run resumed = Run::resume(folder.path / "c.npz");
  CHECK(resumed.step() == 28);
  resumed.train();
  CHECK(same_weights(resumed, whole));
  CHECK(same_log(resumed, whole));
  part.train();
  CHECK(same_log(part, whole));
}

TEST_CASE("extending a run is training longer at once") {
  Run whole(small());
  whole.train();
  Settings shorter = small();
  shorter.steps = 35;
  Run run(shorter);
  CHECK(run.train() == StopReason::steps_done);
  CHECK(contains(refusal([&] { run.extend(34); }), "--steps 34"));
  run.extend(60);
  CHECK(run.train() == StopReason::steps_done);
  CHECK(same_weights(run, whole));
}

TEST_CASE("what a head does on the probes") {
  Settings settings = small();
  settings.layers = 2;
  settings.heads = 3;
  const auto heads = Run(settings).probe();
  CHECK(heads.size() == 6);
  CHECK(heads[4].layer == 2);
  CHECK(heads[4].head == 2);
  // Small initial weights: attention is nearly uniform, 1/i at position i; i = 2 is never the trigger.
  for (const auto& head : heads) {
    CHECK(head.sink_mean > 0.2);
    CHECK(head.sink_mean < 0.4);
    CHECK(std::abs(head.sink_mean + head.leak_mean - 1) < 1e-12);
    CHECK(std::abs(head.leak_max - 5.0 / 6) < 0.01);
  }
}

TEST_CASE("settings out of range are refused by the flag's name") {
  const auto refused = [](auto change) {
    Settings settings;
    change(settings);
    return refusal([&] { train::validate(settings); });
  };
  CHECK(refused([](Settings&) {}).empty());
  CHECK(contains(refused([](Settings& s) { s.length = 3; }), "--length 3: must be between 4 and"));
  CHECK(contains(refused([](Settings& s) { s.dimension = 2; }), "--dimension 2"));
  CHECK(contains(refused([](Settings& s) { s.layers = 0; }), "--layers 0"));
  CHECK(contains(refused([](Settings& s) { s.heads = 0; }), "--heads 0"));
  CHECK(contains(refused([](Settings& s) { s.batch = 0; }), "--batch 0"));
  CHECK(contains(refused([](Settings& s) { s.learning_rate = std::nan(""); }), "--learning-rate nan"));
  CHECK(contains(refused([](Settings& s) { s.learning_rate = -1; }), "--learning-rate -1"));
  CHECK(contains(refused([](Settings& s) { s.stop_error = -1; }), "--stop-error -1"));
  CHECK(contains(refused([](Settings& s) { s.beta2 = 1; }), "--beta2 1"));
  CHECK(contains(refused([](Settings& s) { s.log_every = 0; }), "--log-every 0"));
  CHECK(contains(refused([](Settings& s) { s.normaliser = Normaliser::sink_logit; }), "--attention"));
  CHECK(contains(refusal([] { Run(Settings{.length = 1024, .dimension = 1024, .layers = 64, .heads = 64}); }),
                 "more than 4 GiB"));
  CHECK(contains(refusal([] { train::find_preset("fig9"); }), "fig3, fig4-5, fig6-8"));
}

TEST_CASE("damaged, truncated or foreign checkpoints are refused with the file and the field") {
  Folder folder;
  Run run(small());
  const auto file = folder.path / "c.npz";
  run.save(file);
  const auto tensors = formats::read_npz(file).tensors;
  const auto message = [&](const std::function<void(std::vector<formats::Tensor>&)>& change) {
    auto changed = tensors;
    change(changed);
    const auto other = folder.path / "other.npz";
    formats::write_npz(other, changed);
    const std::string text = refusal([&] { Run::resume(other); });
    CHECK((text.empty() || contains(text, "other.npz")));
    return text;
  };
  CHECK(message([](auto&) {}).empty());
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    CAPTURE(tensors[k].name);
    // Missing, of another shape, not a number.
    CHECK(contains(message([&](auto& t) { t.erase(t.begin() + static_cast<long>(k)); }), tensors[k].name));
    CHECK(contains(message([&](auto& t) { t[k].shape.push_back(1); }), tensors[k].name));
    if (tensors[k].name.starts_with("settings.") || tensors[k].name == "step") {
      CHECK(!message([&](auto& t) { t[k].values[0] = std::nan(""); }).empty());
      CHECK(!message([&](auto& t) { t[k].values[0] = -1; }).empty());
    }
  }
  CHECK(contains(message([](auto& t) { t.push_back({"more", formats::Dtype::f64, {1}, {1}}); }), "more"));
  CHECK(contains(message([](auto& t) {
                   for (auto& tensor : t) {
                     if (tensor.name == "settings.layers") tensor.values[0] = 2;
                   }
                 }),
                 "parameters"));
  // Truncated at every kind of place, or a byte changed.
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  for (std::size_t length = 0; length < bytes.size(); length += 97) {
    const auto cut = folder.path / "cut.npz";
    std::ofstream(cut, std::ios::binary) << bytes.substr(0, length);
    CHECK(contains(refusal([&] { Run::resume(cut); }), "cut.npz"));
  }
  CHECK(contains(refusal([&] { Run::resume(folder.path / "none.npz"); }), "no such file"));
  CHECK(contains(refusal([&] { run.save(folder.path / "none" / "c.npz"); }), "cannot be written"));
}

TEST_CASE("presets are the paper's") {
  CHECK(train::presets().size() == 3);
  for (const auto& preset : train::presets()) {
    REQUIRE(preset.models.size() == 2);
    CHECK(preset.models[0].normaliser == Normaliser::softmax);
    CHECK(preset.models[1].normaliser == Normaliser::relu);
    for (const Settings& s : preset.models) {
      train::validate(s);
      CHECK(s.length == 16);
      CHECK(s.dimension == 16);
      CHECK(s.batch == 128);
      CHECK(s.layers == s.heads);
      CHECK(s.learning_rate == (s.heads == 1 ? 1e-3 : 1e-4));
      CHECK(s.stop_error == 5e-3);
      CHECK(s.initial_deviation == 0.02);
      CHECK(s.beta1 == 0.9);
      CHECK(s.beta2 == 0.95);
      CHECK(s.epsilon == 1e-8);
    }
  }
  CHECK(train::find_preset("fig4-5").models[1].name() == "relu_2h2d");
}
