# cmake -DPROOFS=DIR -DFILES="Sums.v;Task.v" -DOUTPUT=FILE -P coq_theory.cmake: the files as C++ string literals.
function(literal name variable)
  file(READ ${PROOFS}/${name} text HEX)
  # Arrays of bytes: no limit on the length of a string literal, no escapes.
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${text}")
  set(${variable} "${bytes}" PARENT_SCOPE)
endfunction()

set(arrays "")
set(list "")
set(k 0)
foreach(name ${FILES})
  literal(${name} bytes)
  string(APPEND arrays "constexpr unsigned char text_${k}[] = {${bytes}};\n")
  string(APPEND list "    {\"${name}\", view(text_${k}, sizeof text_${k})},\n")
  math(EXPR k "${k} + 1")
endforeach()
literal(assumptions.txt bytes)
set(source "// Written by coq_theory.cmake.
#include \"certify/coq_theory.hpp\"
namespace sinkproof::certify::coq_theory {
namespace {
std::string_view view(const unsigned char* text, std::size_t size) {
  return {reinterpret_cast<const char*>(text), size};
}
${arrays}constexpr unsigned char assumptions_text[] = {${bytes}};
}  // namespace
std::vector<TheoryFile> files() {
  return {
${list}  };
}
std::string_view assumptions() { return view(assumptions_text, sizeof assumptions_text); }
}  // namespace sinkproof::certify::coq_theory
")
file(WRITE ${OUTPUT} "${source}")
