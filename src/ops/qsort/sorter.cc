#include "ops/qsort/sorter.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/log.h"
#include "ops/qsort/chunks.h"
#include "ops/qsort/collation.h"
#include "ops/qsort/gpu_numbers.h"

namespace hoist::qsort {
namespace {

constexpr const char* kNan = "a key is NaN";
constexpr const char* kNoMemory = "not enough memory";

template <typename Test>
bool any_element(const Call& call, ThreadPool* pool, Test&& test) {
  std::atomic<bool> found = false;
  for_chunks(call.count, chunks_for(pool), pool, [&](size_t, size_t start, size_t end) {
    for (size_t i = start; i < end; ++i) {
      if (test(call.at(i))) {
        found = true;
        return;
      }
    }
  });
  return found;
}

template <typename Test>
bool any_float(const Call& call, const Key& key, ThreadPool* pool, Test&& test) {
  return any_element(call, pool, [&](const std::byte* element) {
    const std::byte* at = element + key.offset;
    return key.type == KeyType::f32 ? test(words::load<float>(at)) : test(words::load<double>(at));
  });
}

// Why the key cannot be followed through the whole array, or null.
const char* objection(const Call& call, const Key& key, const Mappings& mappings,
                      ThreadPool* pool) {
  if (is_float(key.type)) {
    const auto is_nan = [](auto value) { return std::isnan(value); };
    return any_float(call, key, pool, is_nan) ? kNan : nullptr;
  }
  if (!is_pointer(key.type)) return nullptr;
  const bool astray = any_element(call, pool, [&](const std::byte* element) {
    return mappings.end_of(words::load<uintptr_t>(element + key.offset)) == 0;
  });
  return astray ? "a pointer leads nowhere" : nullptr;
}

bool is_plain_number(const Call& call, const Order& order) {
  const Key& key = order.keys[0];
  return order.count == 1 && is_number(key.type) && key.length == call.size && key.length >= 4 &&
         reinterpret_cast<uintptr_t>(call.base) % key.length == 0;
}

// Pages that cannot be written to as they are (a garbage collector or a checkpoint watches them by
// their protection) fault here: on the calling thread, where the program's handler expects it.
void touch_pages(const Call& call) {
  constexpr size_t kPage = 4096;
  const size_t bytes = call.count * call.size;
  const auto touch = [&](size_t at) {
    auto* const byte = reinterpret_cast<volatile std::byte*>(call.base + at);
    *byte = *byte;
  };
  for (size_t at = 0; at < bytes; at += kPage) touch(at);
  touch(bytes - 1);
}

std::byte* keep_input(const Call& call, Workspace& workspace, ThreadPool* pool) {
  std::byte* input = workspace.buffer(0, call.count * call.size);
  if (input == nullptr) return nullptr;
  for_chunks(call.count, chunks_for(pool), pool, [&](size_t, size_t start, size_t end) {
    std::memcpy(input + start * call.size, call.at(start), (end - start) * call.size);
  });
  return input;
}

// Fills sorted.entries. Null, or why nothing was done.
const char* sort_by_keys(const Call& call, const Order& order, const Mappings& mappings,
                         Workspace& workspace, ThreadPool* pool, Sorted& sorted) {
  const Key& key = order.keys[0];
  if (key.type != KeyType::collated) {
    const Keyed keyed = {sorted.input, call.size, order, mappings};
    sorted.entries = sort_records(call, keyed, workspace, pool);
  } else {
    CollationKeys keys;
    if (const char* why = keys.make(call, key.offset, mappings, pool)) return why;
    const Order by_keys = {{{{KeyType::string, key.descending, 0, sizeof(char*)}}}, 1};
    const auto with_keys = std::make_unique<Mappings>();
    if (!with_keys->load()) return "too many mappings";
    const Keyed keyed = {keys.pointers(), sizeof(char*), by_keys, *with_keys};
    sorted.entries = sort_records(call, keyed, workspace, pool);
  }
  return sorted.entries != nullptr ? nullptr : kNoMemory;
}

}  // namespace

Sorted sort_by(const Call& call, const Order& order, const Mappings& mappings, Workspace& workspace,
               ThreadPool* pool) {
  Sorted sorted;
  touch_pages(call);
  try {
    if (is_plain_number(call, order)) {
      if (pool != nullptr && is_for_gpu(call, order.keys[0])) {
        const auto done =
            sort_numbers_on_gpu(call, order.keys[0], workspace, pool->size(), sorted.input);
        if (done) {
          sorted.other = *done;
          return sorted;
        }
        log(LogLevel::info, "qsort: no GPU: {}", done.error().message);
      }
      switch (sort_numbers(call, order.keys[0], workspace, pool, sorted.input)) {
        case Numbers::sorted:
          return sorted;
        case Numbers::no_memory:
          return {.failure = kNoMemory};
        case Numbers::nan:
          return {.failure = kNan};
        case Numbers::negative_zero:  // equals the other zero: which one came first counts
          break;
      }
    } else {
      for (size_t i = 0; i < order.count; ++i) {
        const char* why = objection(call, order.keys[i], mappings, pool);
        if (why != nullptr) return {.failure = why};
      }
      sorted.input = keep_input(call, workspace, pool);
      if (sorted.input == nullptr) return {.failure = kNoMemory};
    }
    if (const char* why = sort_by_keys(call, order, mappings, workspace, pool, sorted)) {
      return {.failure = why};
    }
    sorted.index_mask = (uint64_t{1} << index_bits(call.count)) - 1;
    return sorted;
  } catch (...) {  // of memory or threads
    if (sorted.input != nullptr) std::memcpy(call.base, sorted.input, call.count * call.size);
    return {.failure = kNoMemory};
  }
}

}  // namespace hoist::qsort
