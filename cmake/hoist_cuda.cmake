# CUDA where a toolkit is found. All .cu files of all areas go into one plug-in,
# lib/libhoist_cuda.so, which carries the CUDA runtime; nothing else links CUDA.

set(HOIST_CUDA AUTO CACHE STRING "Build the CUDA plug-in: AUTO (where nvcc is found), ON or OFF")
set(HOIST_CUDA_ARCHITECTURES "80-virtual;90" CACHE STRING
    "What the kernels are compiled for: machine code, and PTX for newer and older devices")

set(HOIST_HAS_CUDA OFF)
if(HOIST_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES ${HOIST_CUDA_ARCHITECTURES})
  endif()
  find_program(HOIST_NVCC nvcc HINTS /usr/local/cuda/bin)
  if(HOIST_NVCC AND NOT DEFINED CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER ${HOIST_NVCC})
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    set(HOIST_HAS_CUDA ON)
    # CMake 3.25 does not know that nvcc 13 has C++20, so the standard is an option of ours.
    set(CMAKE_CUDA_STANDARD_DEFAULT "")
    add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>")
    if(HOIST_CCACHE)
      set(CMAKE_CUDA_COMPILER_LAUNCHER ${HOIST_CCACHE})
    endif()
  elseif(HOIST_CUDA STREQUAL "ON")
    message(FATAL_ERROR "HOIST_CUDA=ON, but there is no nvcc")
  else()
    message(STATUS "No CUDA toolkit: building without GPU kernels")
  endif()
endif()

# hoist_cuda_sources(FILES… ) adds .cu files of the current folder to the plug-in.
function(hoist_cuda_sources)
  foreach(source ${ARGN})
    set_property(GLOBAL APPEND PROPERTY HOIST_CUDA_SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  endforeach()
endfunction()

# hoist_cuda_sm90a_sources(FILES… ) adds .cu files that use instructions of compute capability 9.0
# alone (wgmma): machine code for it and nothing else.
function(hoist_cuda_sm90a_sources)
  foreach(source ${ARGN})
    set_property(GLOBAL APPEND PROPERTY HOIST_CUDA_SM90A_SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  endforeach()
endfunction()

# hoist_cuda_plugin() makes the plug-in of all that was added; call it after all folders.
function(hoist_cuda_plugin)
  if(NOT HOIST_HAS_CUDA)
    return()
  endif()
  get_property(sources GLOBAL PROPERTY HOIST_CUDA_SOURCES)
  hoist_px_cuda_sources(px_sources)
  get_property(sm90a_sources GLOBAL PROPERTY HOIST_CUDA_SM90A_SOURCES)
  add_library(hoist_cuda_sm90a OBJECT ${sm90a_sources})
  set_target_properties(hoist_cuda_sm90a PROPERTIES CUDA_ARCHITECTURES 90a-real CUDA_RUNTIME_LIBRARY Static
                        POSITION_INDEPENDENT_CODE ON)
  set(exports ${CMAKE_SOURCE_DIR}/src/device/cuda_plugin.map)
  add_library(hoist_cuda SHARED ${sources} ${px_sources} $<TARGET_OBJECTS:hoist_cuda_sm90a>)
  set_target_properties(hoist_cuda PROPERTIES CUDA_RUNTIME_LIBRARY Static SKIP_BUILD_RPATH ON
                        INSTALL_RPATH "" LINK_DEPENDS ${exports})
  get_property(px_targets GLOBAL PROPERTY HOIST_PX_TARGETS)
  if(px_targets)
    add_dependencies(hoist_cuda ${px_targets})  # whose folders make the files
  endif()
  target_link_options(hoist_cuda PRIVATE LINKER:--version-script=${exports})
  install(TARGETS hoist_cuda DESTINATION ${CMAKE_INSTALL_LIBDIR})
  foreach(component capi cxx)  # each is whole by itself; a whole installation has it already
    install(TARGETS hoist_cuda DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component} EXCLUDE_FROM_ALL)
  endforeach()
endfunction()
