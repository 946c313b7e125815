// A tensor program as kernels of the IR and matrix products, in the order in which they run.
//
//   Fused fused = program::fuse(graph, true, false);                  // of a prepared graph
//   Result<Lowered> lowered = kernels::lower(graph, fused, {});
//   for (const Step& step : lowered->steps) …
//
// Every array that steps read or write is a Memory: an input, output or constant of the graph, what
// a node is between steps, or a kernel's own partial results. Booleans are bytes there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "graph/program/fuse.h"
#include "ir/launch.h"
#include "ir/module.h"

namespace hoist::graph::kernels {

using program::DType;
using program::Extents;
using program::Fused;
using program::Graph;
using program::Id;
using program::Node;

// A number in Lowered::memories.
using Storage = uint32_t;

struct Memory {
  std::optional<Id> node;  // none: partial results
  ir::Scalar element = ir::Scalar::f32;
  uint64_t count = 0;  // elements
  uint64_t bytes() const { return count * static_cast<uint64_t>(ir::bytes(element)); }
};

struct KernelStep {
  struct Argument {
    Storage storage = 0;
    bool is_written = false;
  };
  const ir::Kernel* kernel = nullptr;
  ir::Grid grid;
  std::vector<Argument> arguments;
  // Memories that may be the same: each element is read by the thread that writes it, before.
  std::vector<std::pair<Storage, Storage>> in_place;  // read, written
};

// C = A B, for `batch` pairs of matrices; C's have no gaps. Strides in elements.
struct ProductStep {
  struct Matrix {
    Storage storage = 0;
    int64_t offset = 0;
    int64_t row = 0;     // from a row to the next
    int64_t column = 0;  // one of both is 1
    int64_t batch = 0;
  };
  int64_t batch = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  Matrix a;
  Matrix b;
  Storage c = 0;
  ir::Scalar factors = ir::Scalar::f32;
  ir::Scalar result = ir::Scalar::f32;  // the factors' type, or f32 of f16 and bf16
};

using Step = std::variant<KernelStep, ProductStep>;

struct Lowered {
  ir::Module module{"program"};
  std::vector<Memory> memories;
  std::vector<Step> steps;
  std::vector<size_t> group_of;  // of each step: the fused group that it computes
};

struct LowerOptions {
  // 16 bytes at a time, where shapes allow it: memory must be aligned to 16 bytes.
  bool uses_vectors = true;
  // Products of matrices as kernels, whatever their size; else large ones are ProductSteps.
  bool generates_products = false;
  int multiprocessors = 132;
};

// The graph is a prepared one (program/prepare.h). `unsupported` for an operation or element type
// that kernels have not.
Result<Lowered> lower(const Graph& graph, const Fused& fused, const LowerOptions& options);

}  // namespace hoist::graph::kernels
