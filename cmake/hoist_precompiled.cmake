# Precompiled headers: the standard library and fmt once for all libraries and once for all commands,
# with GoogleTest once for all tests. A source still includes what it uses: the presets `clang` and
# `tidy` build without them, and so does HOIST_PRECOMPILED=OFF.
#
# CLI11 is in none of them: its header defines inline functions and variables, which every source
# that sees it compiles anew (4 s each).
#
# A precompiled header fits only sources with the very flags that it was made with. So there is one
# for each kind of target, and a source with flags of its own (another instruction set, -O3) goes
# without.

option(HOIST_PRECOMPILED "Precompile the standard library's headers" ON)

set(HOIST_PRECOMPILED_HEADERS
    algorithm array atomic bit chrono cmath cstdint cstring functional map memory mutex optional span
    string string_view thread utility vector variant fmt/core.h)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cc CONTENT "int main() {}\n")

# hoist_precompiled_base(TARGET HEADERS…): others reuse the header of TARGET. Executables are compiled
# as such (-fPIE), so a header for them needs one; it does nothing and stays out of bin.
function(hoist_precompiled_base target)
  list(TRANSFORM ARGN PREPEND "<")
  list(TRANSFORM ARGN APPEND ">")
  target_precompile_headers(${target} PRIVATE ${ARGN})
  set_target_properties(${target} PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/precompiled)
endfunction()

if(HOIST_PRECOMPILED)
  add_library(hoist_precompiled STATIC ${CMAKE_BINARY_DIR}/precompiled.cc)
  hoist_precompiled_base(hoist_precompiled ${HOIST_PRECOMPILED_HEADERS})
  add_executable(hoist_precompiled_commands EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled.cc)
  hoist_precompiled_base(hoist_precompiled_commands ${HOIST_PRECOMPILED_HEADERS})
endif()

# hoist_precompile(TARGET BASE) has TARGET use the header of BASE. Done when the rest of the folder's
# CMakeLists.txt is read, so that flags set after the target count.
function(hoist_precompile target base)
  if(HOIST_PRECOMPILED)
    cmake_language(EVAL CODE "cmake_language(DEFER CALL hoist_precompile_now ${target} ${base})")
  endif()
endfunction()

function(hoist_precompile_now target base)
  get_target_property(sources ${target} SOURCES)
  if(NOT "${sources}" MATCHES "\\.cc")
    return()
  endif()
  foreach(source ${sources})
    get_source_file_property(own ${source} TARGET_DIRECTORY ${target} COMPILE_OPTIONS)
    if(own OR source MATCHES "\\.c$")
      set_source_files_properties(${source} TARGET_DIRECTORY ${target}
                                  PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
  target_precompile_headers(${target} REUSE_FROM ${base})
endfunction()
