#include "ops/hash/operation.h"

#include <random>

#include "placement/program_operation.h"
#include "takeover/programs.h"

namespace hoist::hash {
namespace {

constexpr uint64_t kManyFiles = 8;

// No program's speed depends on what the bytes are.
Result<std::string> random_bytes(uint64_t bytes, uint64_t index) {
  std::mt19937_64 random(index);
  std::string content;
  content.reserve(bytes + sizeof(uint64_t));
  while (content.size() < bytes) {
    const uint64_t word = random();
    content.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  content.resize(bytes);
  return content;
}

}  // namespace

placement::Operation operation(const std::string& engine) {
  std::vector<placement::ProgramVariant> variants;
  for (const hoist_program& program : kHoistPrograms) {
    if (program.operation != HOIST_HASH) continue;
    const std::string name = program.name;
    variants.push_back({name, name, {}, {"LC_ALL=C"}, 1, random_bytes});
    variants.push_back({name + "-many", name, {}, {"LC_ALL=C"}, kManyFiles, random_bytes});
  }
  return placement::make_program_operation("hash", std::move(variants), engine);
}

}  // namespace hoist::hash
