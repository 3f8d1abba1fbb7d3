#pragma once

#include <string>
#include <vector>

#include "app/reproduction.hpp"
#include "figures/map_figure.hpp"

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

enum class Statistic { mean, deviation };

/// "1000 examples with the trigger at position 8 (pointed at)".
std::string examples_note();

std::vector<const ModelShown*> models_of(const Reproduction& reproduction, const std::string& preset);

/// Single heads: a row each, mean and deviation side by side.
figures::MapFigure heads_figure(const std::vector<const ModelShown*>& models);
/// A stack: a row of panels for each layer.
figures::MapFigure stack_figure(const ModelShown& model, Statistic statistic);

/// "figure 3" of preset "fig3".
std::string figure_name(const std::string& preset);

}  // namespace sinkproof::app
