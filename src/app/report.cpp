#include "app/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <sstream>

#include <fmt/core.h>

#include "errors.hpp"
#include "formats/file.hpp"

namespace sinkproof::app {

using numeric::Direction;
using numeric::Verdict;

namespace {

constexpr int json_digits = 17;

Json ends(const numeric::Rational& lower, const numeric::Rational& upper) {
  return {{"lower", numeric::decimal(lower, Direction::down, json_digits)},
          {"upper", numeric::decimal(upper, Direction::up, json_digits)}};
}

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

constexpr std::size_t terminal_width = 100;

/// `items` in lines no wider than a terminal, `gap` between two on a line; later lines start with `indent`.
std::string flowed(const std::vector<std::string>& items, const std::string& gap, const std::string& first,
                   const std::string& indent) {
  std::string text, line = first;
  bool empty = true;
  for (const std::string& item : items) {
    if (!empty && line.size() + gap.size() + item.size() > terminal_width) {
      text += line + "\n";
      line = indent;
      empty = true;
    }
    line += (empty ? "" : gap) + item;
    empty = false;
  }
  return text + line + "\n";
}

std::vector<std::string> words(const std::string& sentence) {
  std::istringstream stream(sentence);
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace

std::optional<Verdict> overall(const std::vector<theory::Claim>& claims) {
  if (claims.empty()) return std::nullopt;
  Verdict worst = Verdict::proved;
  for (const auto& claim : claims) worst = both(worst, claim.verdict);
  return worst;
}

ExitCode exit_code(const std::vector<theory::Claim>& claims) {
  const auto verdict = overall(claims);
  if (!verdict || *verdict == Verdict::proved) return all_proved;
  return *verdict == Verdict::disproved ? some_disproved : some_undecided;
}

Json to_json(const theory::Quantity& quantity) {
  return std::visit(
      Overloaded{
          [](const theory::Exactly& x) -> Json {
            return {{"exact", numeric::to_string(x.value)}};
          },
          [](const theory::Between& x) -> Json { return ends(x.lower, x.upper); },
          [](const theory::AtLeast& x) -> Json {
            return {{"lower", numeric::decimal(x.lower, Direction::down, json_digits)}, {"upper", nullptr}};
          },
          [](const theory::Undecided&) -> Json {
            return {{"undecided", true}};
          },
          [](const theory::Sampled& x) -> Json {
            // JSON has no token for NaN and infinities, and neither is a number.
            if (!std::isfinite(x.value)) return {{"undecided", true}};
            return {{"sampled", x.value}};
          }},
      quantity.value);
}

Json to_json(const certify::Seen& seen) {
  Json json;
  if (seen.value.is_undecided()) {
    json["undecided"] = true;
  } else {
    json["sampled"] = ends(lower_end(seen.value), upper_end(seen.value));
  }
  json["trigger"] = seen.trigger;
  json["position"] = seen.position;
  return json;
}

Json to_json(const Report& report) {
  Json json;
  json["schema"] = "sinkproof/" + report.verb + "/1";
  json["version"] = SINKPROOF_VERSION;
  const auto verdict = overall(report.claims);
  json["verdict"] = verdict ? Json(to_string(*verdict)) : Json(nullptr);
  json.update(report.fields);
  json["claims"] = Json::array();
  for (const auto& claim : report.claims) {
    Json entry{{"id", claim.id},
               {"verdict", to_string(claim.verdict)},
               {"title", claim.title},
               {"statement", claim.statement},
               {"hypothesis", claim.hypothesis},
               {"applies", claim.applies}};
    if (!claim.reason.empty()) entry["reason"] = claim.reason;
    entry["quantities"] = Json::object();
    for (const auto& quantity : claim.quantities) entry["quantities"][quantity.name] = to_json(quantity);
    json["claims"].push_back(entry);
  }
  return json;
}

std::string to_text(const theory::Quantity& quantity) {
  return std::visit(
      Overloaded{[](const theory::Exactly& x) { return numeric::to_string(x.value); },
                 [](const theory::Between& x) {
                   return "[" + numeric::decimal(x.lower, Direction::down) + ", " +
                          numeric::decimal(x.upper, Direction::up) + "]";
                 },
                 [](const theory::AtLeast& x) { return ">= " + numeric::decimal(x.lower, Direction::down); },
                 [](const theory::Undecided&) { return std::string("undecided"); },
                 [](const theory::Sampled& x) { return fmt::format("{:.6g} (sampled)", x.value); }},
      quantity.value);
}

std::string paragraph(const std::string& sentence, const std::string& first, const std::string& indent) {
  return flowed(words(sentence), " ", first, indent);
}

std::string to_text(const std::vector<theory::Claim>& claims) {
  std::size_t id_width = 0;
  for (const auto& claim : claims) id_width = std::max(id_width, claim.id.size());
  std::string text;
  for (const auto& claim : claims) {
    const std::string indent(id_width + 2, ' ');
    const std::string shown(claim.applies ? to_string(claim.verdict) : "undecided (not applicable)");
    const auto add = [&](const std::string& first, const std::string& sentence) {
      if (!sentence.empty()) text += paragraph(sentence, first, indent + "  ");
    };
    add(fmt::format("{:<{}}  {}: ", claim.id, id_width, shown), claim.statement);
    add(indent + "given: ", claim.hypothesis);
    add(indent + "because: ", claim.reason);
    std::vector<std::string> pairs;
    for (const auto& quantity : claim.quantities) pairs.push_back(quantity.name + " = " + to_text(quantity));
    if (!pairs.empty()) text += flowed(pairs, "   ", indent, indent);
  }
  return text + "\n" + counted(claims);
}

std::string counted(const std::vector<theory::Claim>& claims) {
  int counts[3] = {0, 0, 0};
  for (const auto& claim : claims) ++counts[static_cast<int>(claim.verdict)];
  return fmt::format("{} proved, {} disproved, {} undecided\n", counts[0], counts[1], counts[2]);
}

void make_folder(const std::filesystem::path& out) {
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error) throw InputError("--out " + out.string() + ": cannot make this folder: " + error.message());
}

void write_file(const std::string& out, const std::string& name, const std::string& content) {
  make_folder(out);
  formats::write_atomically(std::filesystem::path(out) / name, content);
}

int deliver(const Report& report, const std::string& text, const CommonFlags& flags) {
  // Names of files and arrays need not be UTF-8.
  const std::string json = to_json(report).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (!flags.out.empty()) write_file(flags.out, report.verb + ".json", json);
  if (!flags.quiet) fmt::print("{}", flags.json ? json : text);
  if (std::fflush(stdout) != 0) throw InputError("standard output: cannot be written (disk full, or closed)");
  return exit_code(report.claims);
}

}  // namespace sinkproof::app
