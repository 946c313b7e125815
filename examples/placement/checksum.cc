// An operation with two implementations, measured on this machine and then chosen by size: the sum
// of 64-bit words, on one thread or on all of them.
//
//     placement_example PROFILE
#include <fmt/core.h>

#include <atomic>
#include <numeric>
#include <vector>

#include "base/options.h"
#include "base/threads.h"
#include "placement/choose.h"
#include "placement/decide.h"
#include "placement/measure.h"
#include "placement/profile_file.h"

using namespace hoist;
using namespace hoist::placement;
using Words = std::vector<uint64_t>;

uint64_t on_one(const Words& words) {
  return std::accumulate(words.begin(), words.end(), uint64_t{0});
}

uint64_t on_all(const Words& words) {
  const auto parts = static_cast<size_t>(ThreadPool::process().size());
  std::atomic<uint64_t> sum = 0;
  ThreadPool::process().parallel_for(parts, [&](size_t part) {
    const uint64_t* begin = words.data() + words.size() * part / parts;
    sum += std::accumulate(begin, words.data() + words.size() * (part + 1) / parts, uint64_t{0});
  });
  return sum;
}

constexpr decltype(&on_one) kImplementations[] = {on_one, on_all};

// What is measured: input of that size, made once, then run with either implementation.
Result<Run> prepare(size_t /*variant*/, const Shape& shape, const std::string& /*directory*/) {
  return [words = Words(shape.bytes / sizeof(uint64_t), 42)](size_t implementation) -> Status {
    static std::atomic<uint64_t> result;  // so that the work is not optimised away
    result = kImplementations[implementation](words);
    return {};
  };
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} PROFILE\n", argv[0]);
    return 2;
  }
  set_option(OptionId::profile, argv[1]);  // not the user's own, which `hoist tune` writes
  if (const Status place = check_profile_place(); !place) {
    fmt::print(stderr, "{}\n", place.error().message);
    return 1;
  }
  Registry& registry = Registry::process();
  if (!registry.add({"checksum", {{"sum64"}}, {{"cpu-1"}, {"cpu-all", 0}}, prepare})) return 1;
  const VariantHandle& sum64 = *registry.find_variant("checksum/sum64");

  MeasurePlan plan;
  plan.sizes = log_spaced(4 << 10, 16 << 20, 4);
  plan.seconds = 0.5;
  plan.cpus = usable_cpus();
  const Result<Measurement> measured = measure(sum64.operation(), 0, plan);
  if (!measured) return 1;
  Profile profile = {this_machine(), "now", {measured->variant}};
  decide(profile, nullptr, registry);
  if (const Status written = write_profile(profile); !written) {
    fmt::print(stderr, "{}\n", written.error().message);
    return 1;
  }

  for (const uint64_t bytes : {uint64_t{2} << 10, uint64_t{8} << 20}) {
    const size_t choice = choose(sum64, {bytes}).implementation;
    fmt::print("{} bytes: {} says {}\n", bytes, sum64.operation().implementations[choice].name,
               kImplementations[choice](Words(bytes / sizeof(uint64_t), 42)));
  }
}
