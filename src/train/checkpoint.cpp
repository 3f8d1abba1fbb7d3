#include "train/checkpoint.hpp"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "errors.hpp"
#include "formats/npz.hpp"

namespace sinkproof::train {
namespace {

using attention::Normaliser;
using formats::Dtype;
using formats::Tensor;

constexpr double format_version = 1;
constexpr std::size_t record_fields = 6;
constexpr const char* mend = "resume from another checkpoint, or train anew";

/// Calls f(name, field) for each setting that is a number as it is.
template <class AnySettings, class F>
void for_each_number(AnySettings& s, F f) {
  f("length", s.length);
  f("dimension", s.dimension);
  f("layers", s.layers);
  f("heads", s.heads);
  f("batch", s.batch);
  f("fixed_batch", s.fixed_batch);
  f("steps", s.steps);
  f("stop_error", s.stop_error);
  f("stop_worst_case", s.stop_worst_case);
  f("certified", s.certified);
  f("learning_rate", s.learning_rate);
  f("beta1", s.beta1);
  f("beta2", s.beta2);
  f("epsilon", s.epsilon);
  f("initial_deviation", s.initial_deviation);
  f("log_every", s.log_every);
  f("probes", s.probes);
}

std::uint64_t head_count(const Settings& s) {
  return static_cast<std::uint64_t>(s.layers * s.heads);
}

/// The tensors of a checkpoint, taken out one by one with their shapes checked.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : path_(path) {
    for (Tensor& tensor : formats::read_npz(path).tensors) {
      const std::string name = tensor.name;
      tensors_.emplace(name, std::move(tensor));
    }
  }

  [[noreturn]] void refuse(const std::string& field, const std::string& what) const {
    formats::refuse(path_, field, what + ": " + mend);
  }

  std::vector<double> take(const std::string& name, const formats::Shape& shape, Dtype dtype = Dtype::f64) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) refuse(name, "is not in this file, which is no checkpoint of this program");
    const Tensor& tensor = found->second;
    if (tensor.shape != shape || tensor.dtype != dtype) {
      refuse(name,
             fmt::format("is {} {}, but {} {} belongs there", to_string(tensor.dtype),
                         formats::to_string(tensor.shape), to_string(dtype), formats::to_string(shape)));
    }
    std::vector<double> values = tensor.values;
    tensors_.erase(found);
    return values;
  }

  double number(const std::string& name) { return take(name, {1})[0]; }

  long integer(const std::string& name, double least, double most) {
    const double value = number(name);
    if (!(value >= least && value <= most && value == std::floor(value))) {
      refuse(name, fmt::format("is {}, not an integer between {:.0f} and {:.0f}", value, least, most));
    }
    return static_cast<long>(value);
  }

  std::vector<float> floats(const std::string& name, const Settings& s) {
    const auto n = static_cast<std::uint64_t>(s.dimension);
    const auto values = take(name, {head_count(s), 4, n, n}, Dtype::f32);
    return {values.begin(), values.end()};
  }

  std::uint64_t rows(const std::string& name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() || found->second.shape.empty() ? 0 : found->second.shape[0];
  }

  void demand_empty() const {
    if (!tensors_.empty()) refuse(tensors_.begin()->first, "does not belong into a checkpoint");
  }

 private:
  std::filesystem::path path_;
  std::map<std::string, Tensor> tensors_;
};

Settings read_settings(Reader& reader) {
  Settings s;
  constexpr double largest = double{1UL << 50};
  for_each_number(s, [&](const char* name, auto& field) {
    const std::string key = fmt::format("settings.{}", name);
    using Field = std::remove_reference_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, double>) {
      field = reader.number(key);
    } else {
      field = static_cast<Field>(reader.integer(key, 0, std::is_same_v<Field, bool> ? 1 : largest));
    }
  });
  s.normaliser = reader.integer("settings.relu", 0, 1) == 1 ? Normaliser::relu : Normaliser::softmax;
  constexpr double half = 4294967295;
  const auto low = static_cast<std::uint64_t>(reader.integer("settings.seed_low", 0, half));
  s.seed = low | static_cast<std::uint64_t>(reader.integer("settings.seed_high", 0, half)) << 32;
  try {
    validate(s);
  } catch (const InputError& error) {
    reader.refuse("settings", error.what());
  }
  return s;
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  const Settings& s = checkpoint.settings;
  std::vector<Tensor> tensors;
  const auto number = [&](std::string name, double value) {
    tensors.push_back({std::move(name), Dtype::f64, {1}, {value}});
  };
  number("sinkproof.checkpoint", format_version);
  for_each_number(s, [&](const char* name, const auto& field) {
    number(fmt::format("settings.{}", name), static_cast<double>(field));
  });
  number("settings.relu", s.normaliser == Normaliser::relu);
  number("settings.seed_low", static_cast<double>(s.seed & 0xffffffff));
  number("settings.seed_high", static_cast<double>(s.seed >> 32));
  number("step", static_cast<double>(checkpoint.step));
  number("stop_reason", static_cast<double>(checkpoint.reason));
  const auto floats = [&](std::string name, const std::vector<float>& values) {
    const auto n = static_cast<std::uint64_t>(s.dimension);
    tensors.push_back(
        {std::move(name), Dtype::f32, {head_count(s), 4, n, n}, {values.begin(), values.end()}});
  };
  floats("parameters", checkpoint.parameters);
  floats("first_moment", checkpoint.first);
  floats("second_moment", checkpoint.second);
  Tensor log{"log", Dtype::f64, {checkpoint.log.size(), record_fields}, {}};
  for (const LogRecord& r : checkpoint.log) {
    const double fields[record_fields] = {
        static_cast<double>(r.step), r.loss, r.linf, r.leak_mean, r.leak_max, r.steps_per_second};
    log.values.insert(log.values.end(), fields, fields + record_fields);
  }
  tensors.push_back(std::move(log));
  formats::write_npz(path, tensors);
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  Reader reader(path);
  if (reader.number("sinkproof.checkpoint") != format_version) {
    reader.refuse("sinkproof.checkpoint", "is of another version of this format");
  }
  Checkpoint c;
  c.settings = read_settings(reader);
  c.step = reader.integer("step", 0, static_cast<double>(c.settings.steps));
  c.reason =
      static_cast<StopReason>(reader.integer("stop_reason", 0, static_cast<double>(StopReason::interrupted)));
  c.parameters = reader.floats("parameters", c.settings);
  c.first = reader.floats("first_moment", c.settings);
  c.second = reader.floats("second_moment", c.settings);
  const std::uint64_t records = reader.rows("log");
  const auto log = reader.take("log", {records, record_fields});
  for (std::size_t at = 0; at < log.size(); at += record_fields) {
    const double* r = log.data() + at;
    if (!(r[0] >= 0 && r[0] <= static_cast<double>(c.step))) {
      reader.refuse("log", fmt::format("has a record of step {}, after the checkpoint's", r[0]));
    }
    c.log.push_back({static_cast<long>(r[0]), r[1], r[2], r[3], r[4], r[5]});
  }
  reader.demand_empty();
  return c;
}

}  // namespace sinkproof::train
