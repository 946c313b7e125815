# px kernels as part of libraries (src/px/built_in/kernel.h).

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
      COMMAND hoist-px-embed ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${folder}/${file}.h ${made}
      DEPENDS hoist-px-embed ${CMAKE_CURRENT_SOURCE_DIR}/${file}
      COMMENT "Compiling the kernels of src/${folder}/${file}" VERBATIM)
    target_sources(${target} PRIVATE ${made}.h ${made}.cc)
    # As the kernels are compiled at run time (src/px/emit/cpp.h); every file has the same prelude, of which it
    # uses a part.
    set_source_files_properties(${made}.cc PROPERTIES SKIP_PRECOMPILE_HEADERS ON
                                COMPILE_OPTIONS "-O3;-ffp-contract=off;-fno-math-errno;-w")
    set_property(GLOBAL APPEND PROPERTY HOIST_PX_CUDA_SOURCES ${made}.cu)
    set_property(GLOBAL APPEND PROPERTY HOIST_PX_TARGETS ${target})
  endforeach()
endfunction()

# hoist_px_cuda_sources(RESULT) is the list of .cu files that hoist_px() makes, for the plug-in.
function(hoist_px_cuda_sources result)
  get_property(sources GLOBAL PROPERTY HOIST_PX_CUDA_SOURCES)
  set_source_files_properties(${sources} PROPERTIES GENERATED ON COMPILE_OPTIONS "--fmad=false;--disable-warnings")
  set(${result} ${sources} PARENT_SCOPE)
endfunction()
