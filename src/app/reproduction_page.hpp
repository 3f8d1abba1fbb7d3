#pragma once

#include <string>
#include <vector>

#include "app/reproduction.hpp"
#include "figures/report_page.hpp"

namespace sinkproof::app {

/// The report of a reproduction: `lines` stand below its title, `commands` are the lines of a shell that give
/// it again.
figures::ReportPage page_of(const Reproduction& reproduction, const std::vector<theory::Claim>& claims,
                            const std::vector<std::string>& lines, const std::vector<std::string>& commands);

}  // namespace sinkproof::app
