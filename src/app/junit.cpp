#include "app/junit.hpp"

#include <pugixml.hpp>
#include <sstream>

#include <fmt/core.h>

#include "app/report.hpp"

namespace sinkproof::app {
namespace {

void set(pugi::xml_node node, const char* name, const std::string& value) {
  node.append_attribute(name).set_value(printable(value).c_str());
}

}  // namespace

std::string junit_xml(const std::vector<Suite>& suites) {
  pugi::xml_document document;
  pugi::xml_node root = document.append_child("testsuites");
  for (const Suite& suite : suites) {
    int disproved = 0, undecided = 0;
    for (const auto& claim : suite.claims) {
      disproved += claim.verdict == numeric::Verdict::disproved;
      undecided += claim.verdict == numeric::Verdict::undecided;
    }
    pugi::xml_node node = root.append_child("testsuite");
    set(node, "name", suite.name);
    set(node, "tests", std::to_string(suite.claims.size()));
    set(node, "failures", std::to_string(disproved));
    set(node, "errors", std::to_string(undecided));
    set(node, "time", fmt::format("{:.3f}", suite.seconds));
    for (const auto& claim : suite.claims) {
      pugi::xml_node entry = node.append_child("testcase");
      set(entry, "classname", suite.name);
      set(entry, "name", claim.id + ": " + claim.statement);
      if (claim.verdict == numeric::Verdict::proved) continue;
      pugi::xml_node problem =
          entry.append_child(claim.verdict == numeric::Verdict::disproved ? "failure" : "error");
      set(problem, "type", std::string(to_string(claim.verdict)));
      set(problem, "message", claim.reason);
    }
  }
  std::ostringstream text;
  document.save(text, "  ", pugi::format_default, pugi::encoding_utf8);
  return text.str();
}

}  // namespace sinkproof::app
