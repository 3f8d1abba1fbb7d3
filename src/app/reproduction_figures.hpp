#pragma once

#include <string>
#include <vector>

#include "app/reproduction.hpp"
#include "figures/report_page.hpp"

namespace sinkproof::app {

struct NamedDrawing {
  std::string name;  ///< of its files, without the ending
  figures::Drawing drawing;
};

/// Everything that is drawn to files: figure3, figures4-5_*, figures6-8_*, training, loss-leak; those of
/// models that are missing are left out.
std::vector<NamedDrawing> figures_of(const Reproduction& reproduction);

/// The loss-leak plane: what Theorem 1 forbids, the constructions, the training runs, the certified heads.
figures::Drawing loss_leak_plane(const Reproduction& reproduction);
/// Loss, largest error and leak against the step; only where models were trained.
figures::Drawing training_curves(const Reproduction& reproduction);

/// The report: `commands` are the lines of a shell that give it again.
figures::ReportPage page_of(const Reproduction& reproduction, const std::vector<theory::Claim>& claims,
                            const std::vector<std::string>& lines, const std::vector<std::string>& commands);

/// "figure 3" of preset "fig3".
std::string figure_name(const std::string& preset);

}  // namespace sinkproof::app
