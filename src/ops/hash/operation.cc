#include "ops/hash/operation.h"

#include <random>

#include "placement/gpu_access.h"
#include "placement/program_operation.h"
#include "takeover/programs.h"

namespace hoist::hash {
namespace {

constexpr uint64_t kManyFiles = 8;
constexpr uint64_t kSmallFile = 16 << 10;

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
    placement::ProgramVariant variant{.name = name,
                                      .program = name,
                                      .arguments = {},
                                      .environment = {"LC_ALL=C"},
                                      .content = random_bytes,
                                      .may_use_gpu = false};
    variants.push_back(variant);
    variant.name = name + "-many";
    variant.items = kManyFiles;
    variants.push_back(variant);
    if (name != "sha256sum") continue;
    variant.name = name + "-small";
    variant.item_bytes = kSmallFile;
    variant.may_use_gpu = true;
    variants.push_back(variant);
  }
  return placement::make_program_operation(
      "hash", std::move(variants), engine,
      {.find = placement::find_gpu, .lend = placement::lend_gpu, .opens = false});
}

}  // namespace hoist::hash
