#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure/measurement.hpp"
#include "theory/claim.hpp"

namespace sinkproof::app {

/// Text that was asked for, and where: a flag, or a field of a claims file. For messages.
struct Asked {
  std::string text;
  std::string source;
};

/// What is asked about a file of attention maps, by `measure` and by the [[maps]] tables of `ci`. Empty: not
/// asked.
struct MapsRequest {
  std::string path;
  std::optional<std::string> sha256;  ///< what the file must hash to
  std::string array, axes;
  std::string normaliser = "softmax";  ///< or "none"
  Asked epsilon{"0.3", "--epsilon"}, tau{"0.5", "--tau"}, row_tolerance{"", "--row-tolerance"};
  Asked layers{"", "--layers"}, queries{"2..", "--queries"}, bos_column{"", "--bos-column"};
  std::string pad, tokens;  ///< JSON files
  std::vector<Asked> claims;
  int threads = 1;
};

/// Token texts: none, one list for all sequences, or one a sequence.
using Tokens = std::vector<std::vector<std::string>>;

struct MapsChecked {
  measure::Measurement measurement;
  measure::Range layers;  ///< of the overall numbers
  measure::Tally all;     ///< the maps of these layers
  Tokens tokens;
  std::vector<theory::Claim> claims;
  double seconds = 0;  ///< of measuring
};

/// Makes, for maps of this layout, what is to see each of them while it is read.
using Watch = std::function<measure::Visitor(const measure::MapsLayout& layout)>;

/// Reads and measures the maps and decides the claims; their ids are numbered where there are several. Throws
/// InputError for bad input.
MapsChecked check_maps(const MapsRequest& request, const Watch& watch = nullptr);

}  // namespace sinkproof::app
