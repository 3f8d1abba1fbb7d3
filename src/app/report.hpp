#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/session.hpp"
#include "certify/sample.hpp"
#include "theory/claim.hpp"

namespace sinkproof::app {

using Json = nlohmann::ordered_json;

/// What a verb found: fields of its own, and claims with verdicts. JSON.md documents the serialised form.
struct Report {
  std::string verb;
  Json fields = Json::object();
  std::vector<theory::Claim> claims = {};
};

/// The worst of the claims (disproved over undecided over proved), or nothing where no claim was asked for.
std::optional<numeric::Verdict> overall(const std::vector<theory::Claim>& claims);
ExitCode exit_code(const std::vector<theory::Claim>& claims);

/// {"exact": "13/60"}, {"lower": "...", "upper": "..."} rounded outward, {"undecided": true} or {"sampled":
/// 0.1}.
Json to_json(const theory::Quantity& quantity);
/// What was seen on sampled instances: {"sampled": {"lower", "upper"}, "trigger", "position"}.
Json to_json(const certify::Seen& seen);
Json to_json(const Report& report);

/// "13/60", "[2.06e-4, 2.07e-4]", "undecided", "0.1 (sampled)".
std::string to_text(const theory::Quantity& quantity);
/// The claims as a table for people, ending in a line that counts the verdicts.
std::string to_text(const std::vector<theory::Claim>& claims);

/// Words in lines no wider than a terminal; the first starts with `first`, the others with `indent`.
std::string paragraph(const std::string& sentence, const std::string& first, const std::string& indent);

/// "3 proved, 1 disproved, 0 undecided" and a newline.
std::string counted(const std::vector<theory::Claim>& claims);

/// Text of foreign origin (names in a file) as UTF-8 that JSON and XML 1.0 can hold: what they
/// cannot becomes U+FFFD.
std::string printable(const std::string& text);

/// Prints the report (JSON or `text`, as the flags say), writes OUT/VERB.json where --out was given, and
/// returns the exit code.
int deliver(const Report& report, const std::string& text, const CommonFlags& flags);

/// Makes the folder that --out names; InputError where it cannot.
void make_folder(const std::filesystem::path& out);

/// Writes `content` to OUT/name, making the folder; InputError where it cannot.
void write_file(const std::string& out, const std::string& name, const std::string& content);

}  // namespace sinkproof::app
