#include <optional>

#include <fmt/core.h>

#include "app/measure_page.hpp"
#include "app/measure_report.hpp"
#include "app/report.hpp"

namespace sinkproof::app {
namespace {

struct MeasureFlags {
  CommonFlags common;
  MapsRequest request;
  std::vector<std::string> claims;
};

int measure_verb(MeasureFlags flags) {
  MapsRequest& request = flags.request;
  request.threads = flags.common.thread_count();
  for (const std::string& claim : flags.claims) request.claims.push_back({claim, "--claim"});

  std::optional<MapDrawer> drawer;
  Watch watch;
  if (!flags.common.out.empty()) {
    watch = [&](const measure::MapsLayout& layout) -> measure::Visitor {
      drawer.emplace(layout);
      return [&](const measure::MapIndex& index, const measure::MapRows& rows) { drawer->draw(index, rows); };
    };
  }
  const MapsChecked checked = check_maps(request, watch);
  const double gigabytes = 1e-9 * static_cast<double>(checked.measurement.layout.bytes);
  if (!flags.common.quiet && gigabytes > 0.1) {
    fmt::print(stderr, "read {:.2f} GB in {:.2f} s: {:.2f} GB/s\n", gigabytes, checked.seconds,
               gigabytes / checked.seconds);
  }
  if (drawer) {
    write_file(flags.common.out, "measure.csv", measure_csv(checked.measurement));
    write_file(flags.common.out, "measure.html", to_html(measure_page(request, checked, *drawer)));
  }
  return deliver(measure_report(request, checked), measure_text(request, checked), flags.common);
}

}  // namespace

void add_measure(CLI::App& program, Run& run) {
  auto flags = std::make_shared<MeasureFlags>();
  MapsRequest& request = flags->request;
  CLI::App* verb = program.add_subcommand(
      "measure",
      "sink metrics of attention maps dumped from any model, by every published definition at once");
  verb->add_option("MAPS", request.path, ".npy, .npz or .safetensors file of attention weights")
      ->required()
      ->type_name("");
  verb->add_option("--array", request.array, "the array of the file, where it has several")
      ->type_name("NAME");
  verb->add_option("--axes", request.axes,
                   "one letter an axis: b sequence, l layer, h head, q query, k key; needed for 4 or 5 axes")
      ->type_name("AXES");
  verb->add_option("--normaliser", request.normaliser,
                   "softmax: rows must sum to 1; none: ReLU or sigmoid attention")
      ->check(CLI::IsMember({"softmax", "none"}))
      ->capture_default_str()
      ->type_name("KIND");
  verb->add_option("--epsilon", request.epsilon.text, "Gu et al.'s threshold of alpha_1")
      ->capture_default_str()
      ->type_name("Q");
  verb->add_option("--tau", request.tau.text,
                   "a head is dormant if its mean A[i,1] exceeds this (our default)")
      ->capture_default_str()
      ->type_name("Q");
  verb->add_option("--layers", request.layers.text, "layers of the overall numbers, from 1 (default: all)")
      ->type_name("A..B");
  verb->add_option("--queries", request.queries.text, "queries that the leak includes, from 1; A.. is open")
      ->capture_default_str()
      ->type_name("A..B");
  auto* column =
      verb->add_option("--bos-column", request.bos_column.text,
                       "the sink key: auto (after left padding), or its position for all sequences")
          ->type_name("K");
  verb->add_option(
          "--pad", request.pad,
          "JSON: padding tokens before each sequence [3, 0], or their attention masks [[0, 1, 1], ...]")
      ->excludes(column)
      ->type_name("FILE");
  verb->add_option("--tokens", request.tokens, "JSON: the tokens' texts, one list or one a sequence")
      ->type_name("FILE");
  verb->add_option("--row-tolerance", request.row_tolerance.text,
                   "how far a row's sum may be from 1 (default: by precision)")
      ->type_name("Q");
  verb->add_option("--claim", flags->claims,
                   "a claim: METRIC <= Q or METRIC >= Q, maybe followed by: in layers A..B; repeat for more")
      ->type_name("CLAIM")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  flags->common.add_output(*verb);
  verb->add_option("--threads", flags->common.threads,
                   "worker threads; results do not depend on it (default: all cores)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  verb->footer(
      "Metrics of claims: sink-rate, sink-weight, second-half, dormant-rate, mean-leak, worst-leak, "
      "entropy.\n"
      "--out DIR writes measure.json, measure.csv and measure.html (a heatmap a head, in one file).\n"
      "src/measure/IMPORT.md shows how to dump maps from PyTorch, Hugging Face and TransformerLens.\n"
      "examples:\n"
      "  sinkproof measure maps.npy --axes lhqk --tokens tokens.json --out out\n"
      "  sinkproof measure maps.safetensors --axes blhqk --bos-column auto --layers 4..11\n"
      "  sinkproof measure maps.npy --claim 'sink-rate <= 1/4' --claim 'worst-leak <= 0.05 in layers 3..8'");
  verb->callback([flags, &run] { run = [flags] { return measure_verb(*flags); }; });
}

}  // namespace sinkproof::app
