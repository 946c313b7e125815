# The Python package: the extension module lies with the package's sources in
# <build>/python/hoist, so that PYTHONPATH=<build>/python is all that its tests need. `pip install .`
# builds the same target (pyproject.toml).

set(HOIST_PYTHON AUTO CACHE STRING "Build the Python package: AUTO (where nanobind is), ON or OFF")

set(HOIST_HAS_PYTHON OFF)
if(HOIST_PYTHON AND NOT HOIST_SANITIZE AND NOT HOIST_COVERAGE AND NOT HOIST_FUZZ)
  if(NOT DEFINED Python_EXECUTABLE AND EXISTS ${CMAKE_SOURCE_DIR}/build/venv/bin/python)
    set(Python_EXECUTABLE ${CMAKE_SOURCE_DIR}/build/venv/bin/python)  # of scripts/setup
  endif()
  find_package(Python 3.9 COMPONENTS Interpreter Development.Module
               OPTIONAL_COMPONENTS Development.SABIModule)
  if(Python_Development.Module_FOUND)
    execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
                    OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    find_package(nanobind CONFIG QUIET)
  endif()
  if(nanobind_FOUND)
    set(HOIST_HAS_PYTHON ON)
  elseif(HOIST_PYTHON STREQUAL "ON")
    message(FATAL_ERROR "HOIST_PYTHON=ON, but there is no nanobind: pip install nanobind")
  else()
    message(STATUS "No nanobind: building without the Python package")
  endif()
endif()
