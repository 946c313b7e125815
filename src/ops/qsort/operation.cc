#include "ops/qsort/operation.h"

#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "base/call_team.h"
#include "base/per_process.h"
#include "ops/qsort/gpu_numbers.h"
#include "ops/qsort/sorter.h"
#include "takeover/gpu_hint.h"

namespace hoist::qsort {
namespace {

constexpr auto kStart = std::chrono::seconds(5);  // of a daemon, once

// An array in random order, as it was and as it is sorted: every run begins with a copy, on either.
struct Work {
  explicit Work(uint64_t bytes) : original(bytes / sizeof(uint64_t)), array(original.size()) {
    std::mt19937_64 random(bytes);
    for (uint64_t& word : original) word = random();
  }

  Call call(size_t size) {
    const size_t bytes = array.size() * sizeof(uint64_t);
    return {reinterpret_cast<std::byte*>(array.data()), bytes / size, size, nullptr, nullptr};
  }

  std::vector<uint64_t> original;
  std::vector<uint64_t> array;
};

Status run(Work& work, const Key& key, size_t implementation) {
  work.array = work.original;
  const Call call = work.call(key.length);
  Workspace* const workspace = Workspace::take(__builtin_frame_address(0));
  if (workspace == nullptr) return fail(ErrorCode::internal, "the thread sorts already (qsort)");
  const std::byte* input = nullptr;
  Status done;
  if (implementation == kOnGpu) {
    const auto sorted =
        sort_numbers_on_gpu(call, key, *workspace, most_call_threads(), input, kStart);
    if (!sorted) done = sorted.error();
  } else {
    CallTeam team(most_call_threads());
    if (sort_numbers(call, key, *workspace, team.pool(), input) != Numbers::sorted) {
      done = fail(ErrorCode::exhausted, "no memory (qsort)");
    }
  }
  workspace->give_back();
  return done;
}

}  // namespace

placement::Operation operation() {
  placement::Operation operation;
  operation.name = "qsort";
  operation.most_bytes = uint64_t{1} << 30;
  operation.variants = {{.name = "int32"}, {.name = "int64"}};
  operation.implementations = {{.name = "cpu-all", .threads = 0}, {.name = "cuda"}};
  operation.prepare = [](size_t variant, const placement::Shape& shape,
                         const std::string&) -> Result<placement::Run> {
    if (!hoist_gpu_may_serve()) return fail(ErrorCode::unavailable, "no GPU to compare with");
    const Key key = variant == 0 ? Key{KeyType::i32, false, 0, 4} : Key{KeyType::i64, false, 0, 8};
    auto work = std::make_shared<Work>(shape.bytes);
    return [=](size_t implementation) { return run(*work, key, implementation); };
  };
  return operation;
}

const placement::VariantHandle& variant_of(size_t size) {
  struct Handles {
    const placement::Operation described = operation();
    const placement::VariantHandle int32{described, 0};
    const placement::VariantHandle int64{described, 1};
  };
  static constinit PerProcess<Handles> handles;
  const Handles& own = handles.get();
  return size == 4 ? own.int32 : own.int64;
}

}  // namespace hoist::qsort
