// Programs that are given arrays on a GPU: they run there, on the stream that the arrays' framework
// works on. All is called with the interpreter's lock held.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/gpu/gpu_program.h"
#include "graph/program/program.h"
#include "python/graph_open_arrays.h"

namespace hoist::python {

struct GraphProgram;

// A program's code on each GPU, made when it is first run there.
class GraphGpu {
 public:
  // Lets other threads run while it compiles.
  graph::gpu::GpuProgram& on(const graph::program::Program& program, int gpu);
  // (device, launches, arena's bytes, replays) of each.
  nanobind::list report() const;

 private:
  std::map<int, std::shared_ptr<graph::gpu::GpuProgram>> programs_;
};

// An array on a GPU.
struct GpuArray {
  void* data = nullptr;
  int gpu = 0;
  graph::program::DType dtype = graph::program::DType::f32;
  graph::program::Extents shape;
  bool is_contiguous = true;
  bool is_read_only = false;
  device::StreamHandle stream;  // that its framework works on
  const DLPackExchangeApi* api = nullptr;
  nanobind::object owner;  // keeps the memory
};

// Whether it lies on a GPU. What is no array does not.
bool is_on_gpu(nanobind::handle object);
// Unsupported for element types that programs have not.
GpuArray gpu_array(nanobind::handle object, const std::string& who);

// As GraphProgram::run().
nanobind::tuple run_on_gpu(const GraphProgram& program, nanobind::sequence arrays,
                           nanobind::object outs);

// Calls of a compiled function with nothing but arrays on a GPU, of types that have DLPack's
// exchange API: no step of them goes through Python.
class GpuCalls {
 public:
  void add(const GraphProgram& program, bool is_tuple);
  // Null where the call is of another kind.
  PyObject* call(PyObject* const* arguments, size_t count, PyObject* keywords);

 private:
  struct Known;
  std::vector<std::shared_ptr<const Known>> known_;  // the last used first
  ExchangeApi exchange_;
};

}  // namespace hoist::python
