#include "graph/program/trial.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "array/convert.h"
#include "base/stopwatch.h"

namespace hoist::graph::program {
namespace {

// More is not copied: what writes so much waits for memory, not for instructions.
constexpr size_t kMostBytes = size_t{256} << 20;

// What a kernel writes.
struct Written {
  std::byte* at = nullptr;
  size_t bytes = 0;
  DType dtype = DType::f32;
  std::vector<std::byte> before;
  std::vector<std::byte> result;  // of the first kernel, or of the one that ran first
};

template <typename T>
bool are_same(const std::byte* a, const std::byte* b) {
  T x;
  T y;
  std::memcpy(&x, a, sizeof(T));
  std::memcpy(&y, b, sizeof(T));
  return std::isnan(x) && std::isnan(y);
}

bool is_nan16(const std::byte* at, uint16_t exponent) {
  uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof(bits));
  return (bits & 0x7fffu) > exponent;
}

bool are_both_nan(DType dtype, const std::byte* a, const std::byte* b) {
  switch (dtype) {
    case DType::f32:
      return are_same<float>(a, b);
    case DType::f64:
      return are_same<double>(a, b);
    case DType::f16:
      return is_nan16(a, 0x7c00) && is_nan16(b, 0x7c00);
    case DType::bf16:
      return is_nan16(a, 0x7f80) && is_nan16(b, 0x7f80);
    default:
      return false;
  }
}

bool is_same(const Written& one) {
  if (one.bytes == 0 || std::memcmp(one.at, one.result.data(), one.bytes) == 0) return true;
  const size_t item = bytes_of(one.dtype);
  for (size_t i = 0; i < one.bytes; i += item) {
    const std::byte* const a = one.at + i;
    const std::byte* const b = one.result.data() + i;
    if (std::memcmp(a, b, item) != 0 && !are_both_nan(one.dtype, a, b)) return false;
  }
  return true;
}

// Nothing: there is no memory for copies of it.
std::optional<std::vector<Written>> written_by(const Graph& graph, const Kernel& kernel,
                                               const Memory& memory) try {
  std::vector<Written> all;
  for (const Id output : kernel.outputs) {
    for (const Loop& loop : kernel.loops) {
      const auto found =
          std::find_if(loop.operands.begin(), loop.operands.end(), [&](const Operand& operand) {
            return operand.node == output &&
                   (operand.place == Place::output || operand.place == Place::arena);
          });
      if (found == loop.operands.end()) continue;
      Written one;
      one.at = found->place == Place::output ? static_cast<std::byte*>(memory.outputs[found->index])
                                             : memory.arena + found->arena;
      one.dtype = found->dtype;
      one.bytes = static_cast<size_t>(graph[output].elements()) * bytes_of(found->dtype);
      if (one.bytes > kMostBytes) return std::nullopt;
      one.before.resize(one.bytes);
      one.result.resize(one.bytes);
      all.push_back(std::move(one));
      break;
    }
  }
  return all;
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

void copy_bytes(void* to, const void* from, size_t bytes) {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

uint32_t timed(const std::function<void(const Kernel&)>& run, const Kernel& kernel) {
  const Stopwatch watch;
  run(kernel);
  return static_cast<uint32_t>(std::min(watch.milliseconds() * 1e6, 4e9));
}

}  // namespace

std::optional<Trial> try_both(const Graph& graph, const Kernel& first, const Kernel& second,
                              const Memory& memory, bool second_goes_first,
                              const std::function<void(const Kernel&)>& run) {
  std::optional<std::vector<Written>> written = written_by(graph, first, memory);
  if (!written) return std::nullopt;
  std::vector<Written>& all = *written;
  // Results may take the place of what is read.
  for (Written& one : all) copy_bytes(one.before.data(), one.at, one.bytes);
  Trial trial;
  const uint32_t one_ns = timed(run, second_goes_first ? second : first);
  for (Written& one : all) {
    copy_bytes(one.result.data(), one.at, one.bytes);
    copy_bytes(one.at, one.before.data(), one.bytes);
  }
  const uint32_t other_ns = timed(run, second_goes_first ? first : second);
  trial.first_ns = second_goes_first ? other_ns : one_ns;
  trial.second_ns = second_goes_first ? one_ns : other_ns;
  trial.is_same = std::all_of(all.begin(), all.end(), is_same);
  if (!second_goes_first) {
    for (Written& one : all) copy_bytes(one.at, one.result.data(), one.bytes);
  }
  return trial;
}

}  // namespace hoist::graph::program
