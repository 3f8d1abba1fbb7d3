#pragma once

#include <string>
#include <string_view>

#include "formats/tensor.hpp"

namespace sinkproof::formats {

/// The dictionary at the head of an .npy array.
struct NpyHeader {
  std::string descr;        ///< NumPy's type text, "<f4"; for a structured type the text from its bracket on
  bool structured = false;  ///< then the other fields are not read
  bool fortran_order = false;
  Shape shape;
};

/// Reads the Python literal "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }" - these three keys
/// and no others, in any order. It is parsed, never evaluated. Throws std::invalid_argument saying what is
/// wrong.
NpyHeader parse_npy_header(std::string_view text);

}  // namespace sinkproof::formats
