# Enclosures rest on IEEE arithmetic: each operation faithfully rounded, subnormals kept, NaN kept.
# These options give that away silently, so a configuration that asks for them stops here.
set(_flags "${CMAKE_CXX_FLAGS} $ENV{CXXFLAGS}")
foreach(_type DEBUG RELEASE RELWITHDEBINFO MINSIZEREL)
  string(APPEND _flags " ${CMAKE_CXX_FLAGS_${_type}}")
endforeach()
if(CMAKE_BUILD_TYPE)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" _type)
  string(APPEND _flags " ${CMAKE_CXX_FLAGS_${_type}}")
endif()
foreach(_flag -ffast-math -Ofast -funsafe-math-optimizations -fassociative-math -freciprocal-math
              -ffinite-math-only -mdaz-ftz -ffp-model=fast)
  string(FIND "${_flags} " "${_flag} " _found)
  if(NOT _found EQUAL -1)
    message(FATAL_ERROR
      "sinkproof: ${_flag} is refused: it breaks the rounding that every enclosure rests on. "
      "Remove it from CMAKE_CXX_FLAGS (or CXXFLAGS) and use -O2 or -O3.")
  endif()
endforeach()
unset(_flags)
