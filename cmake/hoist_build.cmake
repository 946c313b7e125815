# Compiler settings, optional tools and the functions that every folder uses.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The installed layout, in the build tree too: programs find their parts relative to themselves.
include(GNUInstallDirs)
set(CMAKE_INSTALL_LIBDIR lib)
set(CMAKE_INSTALL_LIBEXECDIR libexec)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(HOIST_LIBEXEC_DIR ${CMAKE_BINARY_DIR}/libexec/hoist)
set(HOIST_TEST_DIR ${CMAKE_BINARY_DIR}/tests)

# nvcc takes none of the host compiler's options.
function(hoist_host_options)
  foreach(option ${ARGN})
    add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${option}>")
  endforeach()
endfunction()
hoist_host_options(-Wall -Wextra -Wno-unused-parameter -fno-plt)
add_compile_definitions(_FILE_OFFSET_BITS=64 _GNU_SOURCE)
include_directories(${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)

if(HOIST_SANITIZE STREQUAL "address")
  hoist_host_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined
                     -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(HOIST_SANITIZE STREQUAL "thread")
  hoist_host_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
endif()
if(HOIST_COVERAGE)
  # Counts are updated by many threads, and files by many processes, at once.
  # The long form of --coverage, which a target can take back (-fno-profile-arcs).
  hoist_host_options(-fprofile-arcs -ftest-coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()
if(HOIST_FUZZ)
  # Libraries report their coverage to the fuzzer too; only the targets get its main().
  hoist_host_options(-fsanitize=fuzzer-no-link)
endif()

if(NOT HOIST_SANITIZE)
  # An engine is execed in place of a small program: loading libstdc++ and libgcc would be half of
  # its start-up time.
  add_link_options($<$<LINK_LANGUAGE:CXX>:-static-libstdc++> -static-libgcc)
endif()

if(HOIST_BUNDLE)
  # What Debian ships only as a shared library (ISA-L, Highway) lies in lib/ beside the programs
  # (scripts/bundle). Old-style RPATH, because these libraries need one another. Elsewhere no path
  # is searched before the system's: that would slow every start.
  set(CMAKE_INSTALL_RPATH "\$ORIGIN/../lib;\$ORIGIN/../../lib")
  set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
  add_link_options(-s -Wl,--disable-new-dtags)
  # Hundreds of tests with the same libraries in them: each keeps what it uses.
  hoist_host_options(-ffunction-sections -fdata-sections)
  add_link_options(LINKER:--gc-sections)
endif()

find_program(HOIST_CCACHE ccache)
if(HOIST_CCACHE)
  # A precompiled header's own text is not looked at again: ccache is told that this is meant.
  set(CMAKE_C_COMPILER_LAUNCHER ${HOIST_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${HOIST_CCACHE})
  hoist_host_options("$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>")
endif()
find_program(HOIST_MOLD mold)
if(HOIST_MOLD AND NOT HOIST_SANITIZE AND NOT HOIST_COVERAGE)
  # Separate pages for code: where thread-local data comes first, mold 1.10 may otherwise begin the
  # range that becomes read-only on a page that no segment covers, and the program does not start.
  add_link_options(-fuse-ld=mold LINKER:-z,separate-code)
endif()

include(hoist_precompiled)
include(hoist_cuda)
include(hoist_python)
find_package(Threads REQUIRED)

# The static library of a dependency where one is packaged, else the shared one.
function(hoist_find_library variable name header)
  find_path(${variable}_INCLUDE ${header} REQUIRED)
  find_library(${variable}_LIBRARY NAMES lib${name}.a ${name} REQUIRED)
  add_library(hoist_dep_${name} INTERFACE)
  target_include_directories(hoist_dep_${name} SYSTEM INTERFACE ${${variable}_INCLUDE})
  target_link_libraries(hoist_dep_${name} INTERFACE ${${variable}_LIBRARY})
endfunction()

# hoist_find_part(VARIABLE): the part that the folder belongs to, an area of src/; the commands of an
# engine, src/cli/match say, belong to the engine. A folder outside src/ names it in HOIST_PART.
function(hoist_find_part variable)
  set(part "${HOIST_PART}")
  if(NOT part)
    file(RELATIVE_PATH part ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    string(REGEX REPLACE "^src/cli/(match|px|tensors|container|graph|records)$" "src/\\1" part "${part}")
    string(REGEX REPLACE "^bench/.*" "bench" part "${part}")
    string(REGEX REPLACE "^(src|examples)/(ops/)?([^/]*).*" "\\3" part "${part}")
  endif()
  set(${variable} "${part}" PARENT_SCOPE)
endfunction()

# hoist_in_part(TARGETS… ) has them built by `make HOIST_PARTS=PART`.
function(hoist_in_part)
  hoist_find_part(part)
  if(NOT TARGET part-${part})
    add_custom_target(part-${part})
  endif()
  add_dependencies(part-${part} ${ARGN})
endfunction()

# hoist_library(NAME SOURCES… ) makes static library hoist_NAME.
function(hoist_library name)
  add_library(hoist_${name} STATIC ${ARGN})
  hoist_in_part(hoist_${name})
  hoist_precompile(hoist_${name} hoist_precompiled)
endfunction()

# hoist_engine(NAME SOURCES… ) makes libexec/hoist/hoist-NAME.
function(hoist_engine name)
  add_executable(hoist-${name} ${ARGN})
  hoist_in_part(hoist-${name})
  set_property(GLOBAL APPEND PROPERTY HOIST_ENGINES hoist-${name})
  set_target_properties(hoist-${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${HOIST_LIBEXEC_DIR})
  install(TARGETS hoist-${name} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/hoist)
endfunction()

# hoist_call_engine(NAME LIBRARIES… ) makes lib/libhoist_NAME.so of the static library hoist_NAME, with
# the version script NAME.map. It lives in other people's processes: few exported symbols, no
# libstdc++ of its own to be found, and no sanitizer, whose runtime refuses to be loaded second.
function(hoist_call_engine name)
  if(HOIST_SANITIZE)
    return()
  endif()
  set(exports ${CMAKE_CURRENT_SOURCE_DIR}/${name}.map)
  set(target hoist_${name}_library)
  add_library(${target} SHARED $<TARGET_OBJECTS:hoist_${name}>)
  hoist_in_part(${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME hoist_${name} SKIP_BUILD_RPATH ON
                        INSTALL_RPATH "" LINK_DEPENDS ${exports})
  target_link_libraries(${target} PRIVATE ${ARGN})
  target_link_options(${target} PRIVATE LINKER:-z,defs LINKER:--exclude-libs,ALL
                      LINKER:--gc-sections LINKER:--version-script=${exports})
  install(TARGETS ${target} DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set_property(GLOBAL APPEND PROPERTY HOIST_CALL_ENGINES ${target})
endfunction()

# hoist_tool(NAME SOURCES… ) makes libexec/hoist/hoist-NAME, which `hoist NAME` execs: commands whose
# libraries would slow the start of `hoist run`.
function(hoist_tool name)
  hoist_engine(${name} ${ARGN})
  hoist_precompile(hoist-${name} hoist_precompiled_commands)
endfunction()

# hoist_share_runtime(TARGET) links it with the shared libstdc++ and libgcc after all.
function(hoist_share_runtime target)
  get_target_property(options ${target} LINK_OPTIONS)
  if(options)
    list(FILTER options EXCLUDE REGEX "static-lib(stdc\\+\\+|gcc)")
    set_target_properties(${target} PROPERTIES LINK_OPTIONS "${options}")
  endif()
endfunction()

# Test programs of a bundle share the C++ runtime: a hundred copies of it would fill the bundle.
function(hoist_test_program name)
  hoist_in_part(${name})
  set_property(GLOBAL APPEND PROPERTY HOIST_TEST_PROGRAMS ${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${HOIST_TEST_DIR})
  if(HOIST_BUNDLE)
    hoist_share_runtime(${name})
  endif()
endfunction()

# Programs that measure lie in bench/, and use a GPU where there is one.
function(hoist_bench_program name)
  hoist_in_part(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  if(HOIST_HAS_CUDA)
    add_dependencies(${name} hoist_cuda)
  endif()
endfunction()

# Seconds after which a test counts as hung: several times what the slowest take on 2 busy cores.
set(HOIST_TEST_TIMEOUT 1200)
if(HOIST_SANITIZE OR HOIST_COVERAGE)
  set(HOIST_TEST_TIMEOUT 1800)
endif()

# hoist_label_test(TEST KIND) gives a ctest entry its labels: its kind (unit, program, real, fuzz or
# gpu) and its part. scripts/check-labels refuses an entry without them.
function(hoist_label_test test kind)
  hoist_find_part(part)
  set_tests_properties(${test} PROPERTIES LABELS "${kind};${part}")
endfunction()

# hoist_slow(TESTS… ) labels tests that take more than 20 s: `make test` leaves them out.
function(hoist_slow)
  foreach(test ${ARGN})
    if(TEST ${test})
      set_property(TEST ${test} APPEND PROPERTY LABELS slow)
    endif()
  endforeach()
endfunction()

# Tests are compiled more often than they run: their own sources need no more than -O1.
set(HOIST_TEST_OPTIONS "$<$<CONFIG:Release>:-O1>")

# hoist_test(NAME SOURCE LIBRARIES… ) makes a GoogleTest program and one ctest entry.
find_package(GTest REQUIRED)
set(HOIST_GTEST GTest::gtest GTest::gtest_main)
if(HOIST_BUNDLE)  # once for all tests, too
  file(WRITE ${CMAKE_BINARY_DIR}/no_source.cc "")
  add_library(hoist_gtest SHARED ${CMAKE_BINARY_DIR}/no_source.cc)
  target_link_libraries(hoist_gtest PRIVATE -Wl,--whole-archive ${HOIST_GTEST}
                                            -Wl,--no-whole-archive Threads::Threads)
  target_include_directories(hoist_gtest SYSTEM INTERFACE
                             $<TARGET_PROPERTY:GTest::gtest,INTERFACE_INCLUDE_DIRECTORIES>)
  hoist_share_runtime(hoist_gtest)
  install(TARGETS hoist_gtest DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set(HOIST_GTEST hoist_gtest)
endif()
if(HOIST_PRECOMPILED)
  add_executable(hoist_precompiled_tests EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled.cc)
  target_compile_options(hoist_precompiled_tests PRIVATE ${HOIST_TEST_OPTIONS})
  target_link_libraries(hoist_precompiled_tests PRIVATE ${HOIST_GTEST})
  hoist_precompiled_base(hoist_precompiled_tests ${HOIST_PRECOMPILED_HEADERS} gtest/gtest.h)
endif()
function(hoist_test name source)
  add_executable(${name} ${source})
  target_compile_options(${name} PRIVATE ${HOIST_TEST_OPTIONS})
  hoist_precompile(${name} hoist_precompiled_tests)
  if(HOIST_SANITIZE STREQUAL "address")
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/sanitized_fork.cc)
  endif()
  target_link_libraries(${name} PRIVATE ${ARGN} ${HOIST_GTEST})
  hoist_test_program(${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${HOIST_TEST_TIMEOUT})
  hoist_label_test(${name} unit)
endfunction()

# hoist_gpu_test(NAME SOURCE LIBRARIES… ) makes a hoist_test that needs a GPU: it skips its cases,
# and counts as skipped, where there is none.
function(hoist_gpu_test name source)
  hoist_test(${name} ${source} ${ARGN})
  if(HOIST_HAS_CUDA)
    add_dependencies(${name} hoist_cuda)
  endif()
  set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
  hoist_label_test(${name} gpu)
endfunction()

# hoist_split_gpu_cases(TEST PATTERN) leaves the cases of a hoist_test that PATTERN names to an entry of
# their own, TEST_gpu, which counts as skipped where there is no GPU.
function(hoist_split_gpu_cases name pattern)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT GTEST_FILTER=-${pattern})
  if(HOIST_HAS_CUDA)
    add_dependencies(${name} hoist_cuda)
  endif()
  add_test(NAME ${name}_gpu COMMAND ${name} --gtest_filter=${pattern})
  set_tests_properties(${name}_gpu PROPERTIES TIMEOUT ${HOIST_TEST_TIMEOUT}
                       SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
  hoist_label_test(${name}_gpu gpu)
endfunction()

# hoist_device_test(NAME SOURCE LIBRARIES… ) makes a hoist_test whose parameters are devices: the CPU
# device everywhere, a GPU where there is one.
function(hoist_device_test name source)
  hoist_test(${name} ${source} ${ARGN})
  hoist_split_gpu_cases(${name} */cuda)
endfunction()

# hoist_bench(SOURCE LIBRARIES… ) adds Google Benchmark cases to `hoist bench`.
function(hoist_bench source)
  set_property(GLOBAL APPEND PROPERTY HOIST_BENCH_SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  set_property(GLOBAL APPEND PROPERTY HOIST_BENCH_LIBRARIES ${ARGN})
endfunction()

# hoist_python_test(NAME SCRIPT ARGS… ) runs a black-box test written in Python (unittest). They are
# the long ones: ctest begins with them, so that none is left alone at the end.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
function(hoist_python_test name script)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${ARGN})
  set(environment HOIST_BUILD_DIR=${CMAKE_BINARY_DIR} HOIST_SANITIZE=${HOIST_SANITIZE}
                  HOIST_COVERAGE=${HOIST_COVERAGE})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${HOIST_TEST_TIMEOUT} COST 10
                       SKIP_RETURN_CODE 77 ENVIRONMENT "${environment}")
  hoist_label_test(${name} program)
  hoist_in_part(hoist-programs)
endfunction()

# hoist_python_device_test(NAME SCRIPT ARGS… ) makes a hoist_python_test whose hoistd has the CPU device, and
# an entry NAME_gpu where it has a GPU, which counts as skipped where there is none.
function(hoist_python_device_test name script)
  hoist_python_test(${name} ${script} ${ARGN})
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT HOIST_TEST_DEVICE=cpu)
  hoist_python_test(${name}_gpu ${script} ${ARGN})
  set_property(TEST ${name}_gpu APPEND PROPERTY ENVIRONMENT HOIST_TEST_DEVICE=cuda)
  hoist_label_test(${name}_gpu gpu)
endfunction()

# hoist_fuzz(NAME SOURCE LIBRARIES… ) makes a libFuzzer program; without libFuzzer the same source
# is linked with a driver that replays the corpus and a fixed number of mutations.
function(hoist_fuzz name source)
  add_executable(${name} ${source})
  hoist_test_program(${name})
  target_link_libraries(${name} PRIVATE ${ARGN})
  if(HOIST_FUZZ)
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/fuzz/replay_driver.cc)
    add_test(NAME ${name} COMMAND ${name} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${HOIST_TEST_TIMEOUT})
    hoist_label_test(${name} fuzz)
  endif()
endfunction()
