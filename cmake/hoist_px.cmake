# px kernels as part of libraries (src/px/built_in/kernel.h).

set(HOIST_PX_EMBED "" CACHE FILEPATH
    "A hoist-px-embed that is built already, where there is one; else it is built")
if(EXISTS "${HOIST_PX_EMBED}")
  set(HOIST_PX_EMBED_COMMAND ${HOIST_PX_EMBED})
else()
  set(HOIST_PX_EMBED_COMMAND hoist-px-embed)
endif()

# Makes the sources of all px files, for what reads the libraries' sources without building them.
add_custom_target(px-sources)

# hoist_px(TARGET FILES… ) compiles the kernels of px files of the current folder into the library
# TARGET for the CPU, and where a CUDA toolkit is into the plug-in. FILE.px.h, which TARGET and what links
# it include by its path under src, declares how they are launched.
function(hoist_px target)
  file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  set(root ${CMAKE_BINARY_DIR}/px)
  file(MAKE_DIRECTORY ${root}/${folder})
  target_include_directories(${target} PUBLIC ${root})
  target_link_libraries(${target} PUBLIC hoist_px_built_in)
  foreach(file ${ARGN})
    set(made ${root}/${folder}/${file})
    add_custom_command(
      OUTPUT ${made}.h ${made}.cc ${made}.cu
      COMMAND ${HOIST_PX_EMBED_COMMAND} ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${folder}/${file}.h ${made}
      DEPENDS ${HOIST_PX_EMBED_COMMAND} ${CMAKE_CURRENT_SOURCE_DIR}/${file}
      COMMENT "Compiling the kernels of src/${folder}/${file}" VERBATIM)
    target_sources(${target} PRIVATE ${made}.h ${made}.cc)
    list(APPEND all_made ${made}.h)
    # As the kernels are compiled at run time (src/px/compile/cpp_compiler.cc); every file has the same prelude, of
    # which it uses a part.
    set_source_files_properties(${made}.cc PROPERTIES SKIP_PRECOMPILE_HEADERS ON
                                COMPILE_OPTIONS "-O3;-ffp-contract=off;-fno-math-errno;-fno-trapping-math;-w;$<$<CXX_COMPILER_ID:GNU>:-fno-tree-loop-distribution>")
    set_property(GLOBAL APPEND PROPERTY HOIST_PX_CUDA_SOURCES ${made}.cu)
    set_property(GLOBAL APPEND PROPERTY HOIST_PX_TARGETS ${target})
  endforeach()
  add_custom_target(px-sources-${target} DEPENDS ${all_made})
  add_dependencies(px-sources px-sources-${target})
  add_dependencies(${target} px-sources-${target})
endfunction()

# hoist_px_cuda_sources(RESULT) is the list of .cu files that hoist_px() makes, for the plug-in.
function(hoist_px_cuda_sources result)
  get_property(sources GLOBAL PROPERTY HOIST_PX_CUDA_SOURCES)
  set_source_files_properties(${sources} PROPERTIES GENERATED ON COMPILE_OPTIONS "--fmad=false;--disable-warnings")
  set(${result} ${sources} PARENT_SCOPE)
endfunction()
