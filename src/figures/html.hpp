#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What the pages share: each is one self-contained HTML file, and its own policy forbids the network.
namespace sinkproof::figures {

/// Text with what HTML would take for markup written as entities.
std::string escaped(std::string_view text);

std::string base64(std::string_view bytes);

/// JSON that cannot end the script element that it stands in: every '<' is written as an escape.
std::string script_safe(std::string_view json);

/// All text is plain; the page escapes it.
struct PageTable {
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};
/// Long tables are folded, so that what follows is not far.
std::string to_html(const PageTable& table);

/// From the doctype to the end of the shared style: light colours as variables, which a page may set anew.
std::string page_start();

/// The anchors of figures::viridis as a JavaScript array.
std::string anchors_script();

}  // namespace sinkproof::figures
