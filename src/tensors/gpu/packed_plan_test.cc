// Plans of real files: every planned part comes out of the arena as it is stored, whichever parts
// are wanted and however the arena is read.
#include "tensors/gpu/packed_plan.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/test_seed.h"
#include "tensors/gpu/load_testing.h"
#include "tensors/gpu/packed_reader.h"

namespace hoist::tensors {
namespace {

std::vector<uint64_t> offsets_of(const HoloTensorReader& file) {
  std::vector<uint64_t> offsets;
  for (const FragmentIndexEntry& entry : file.fragment_index()) offsets.push_back(entry.offset);
  return offsets;
}

// Random parts for up to three steps; some tensors are left out.
StepParts random_steps(const HoloTensorHeader& header, std::mt19937_64& random) {
  const size_t steps = 1 + random() % 3;
  StepParts wanted;
  for (const HoloTensor& tensor : header.tensors) {
    std::vector<size_t> parts;
    if (random() % 5 != 0) {
      for (size_t step = 0; step < steps; ++step) {
        parts.push_back(1 + random() % tensor.parts.size());
      }
      std::sort(parts.begin(), parts.end());
    }
    wanted.push_back(parts);
  }
  return wanted;
}

std::vector<std::byte> read_arena(const PackedPlan& plan, const HoloTensorReader& file,
                                  std::mt19937_64& random) {
  std::vector<std::byte> arena(plan.arena_bytes());
  PackedReader reader(plan, file.container().source());
  const size_t longest = 1 + random() % 300000;
  for (size_t at = 0; at < arena.size();) {
    const size_t size = std::min(arena.size() - at, 1 + random() % longest);
    EXPECT_TRUE(reader.read(at, std::span(arena).subspan(at, size)));
    at += size;
  }
  return arena;
}

// The shards of all tensors' first parts.
std::set<uint64_t> first_parts(const HoloTensorReader& file) {
  std::set<uint64_t> shards;
  for (size_t tensor = 0; tensor < file.header().tensors.size(); ++tensor) {
    for (const StreamPiece& piece : file.layout().pieces(file.layout().part_stream(tensor, 0))) {
      shards.insert(piece.shard);
    }
  }
  return shards;
}

void check_regions(const PackedPlan& plan, const HoloTensorReader& file, const StepParts& steps) {
  uint64_t end = 0;
  size_t shards = 0;
  std::vector<size_t> parts(steps.size());
  for (const PackedRegion& region : plan.regions()) {
    ASSERT_EQ(region.begin, end);
    ASSERT_GT(region.end, region.begin);
    ASSERT_EQ(region.first_shard, shards);
    end = region.end;
    shards += region.shards;
    for (size_t i = 0; i < region.shards; ++i) {
      const PackedShard& shard = plan.shards()[region.first_shard + i];
      ASSERT_GE(shard.arena, region.begin);
      ASSERT_LE(shard.arena + shard.bytes, region.end);
    }
    for (const ReadyTensor& ready : region.ready) {
      ASSERT_GT(ready.parts, parts[ready.tensor]);
      ASSERT_EQ(ready.parts, steps[ready.tensor][ready.step]);
      parts[ready.tensor] = ready.parts;
      for (size_t part = 0; part < ready.parts; ++part) {
        const uint64_t bytes = file.header().tensors[ready.tensor].parts[part].bytes;
        ASSERT_EQ(plan.part(ready.tensor, part) % PackedPlan::kAlignment, 0u);
        ASSERT_LE(plan.part(ready.tensor, part) + bytes, region.end);
      }
    }
  }
  ASSERT_EQ(end, plan.arena_bytes());
  ASSERT_EQ(shards, plan.shards().size());
  for (size_t tensor = 0; tensor < steps.size(); ++tensor) {
    ASSERT_EQ(parts[tensor], steps[tensor].empty() ? 0 : steps[tensor].back());
  }
}

TEST(PackedPlanTest, EveryPartComesAsItIsStored) {
  std::mt19937_64 random(test_seed());
  for (const FileOrder order : {FileOrder::layer, FileOrder::tensor}) {
    for (const HolographicEncoding encoding :
         {HolographicEncoding::embedded, HolographicEncoding::spectral}) {
      HoloFileTest test(random);
      test.add_mixture();
      test.write({.encode = {.encoding = encoding, .fragments = 5}, .order = order, .parity = 1});
      const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
      for (int round = 0; round < 10; ++round) {
        const StepParts steps = random_steps(file.header(), random);
        const uint64_t region_bytes = uint64_t{1} << (12 + random() % 12);
        const auto plan =
            PackedPlan::make(*file.index(), offsets_of(file), steps, {.region_bytes = region_bytes})
                .value();
        ASSERT_EQ(plan.ring_bytes(), plan.arena_bytes());
        if (plan.regions().empty()) continue;
        check_regions(plan, file, steps);
        const std::vector<std::byte> arena = read_arena(plan, file, random);
        for (size_t tensor = 0; tensor < steps.size(); ++tensor) {
          for (size_t part = 0; !steps[tensor].empty() && part < steps[tensor].back(); ++part) {
            std::vector<std::byte> stored(file.header().tensors[tensor].parts[part].bytes);
            ASSERT_TRUE(
                file.fetcher().read_stream(file.layout().part_stream(tensor, part), stored));
            ASSERT_LE(plan.part(tensor, part) + stored.size() + PackedPlan::kMargin,
                      plan.arena_bytes());
            ASSERT_TRUE(std::equal(stored.begin(), stored.end(),
                                   arena.begin() + static_cast<ptrdiff_t>(plan.part(tensor, part))))
                << "tensor " << tensor << " part " << part;
          }
        }
      }
    }
  }
}

TEST(PackedPlanTest, StepsComeOneAfterTheOther) {
  std::mt19937_64 random(test_seed());
  HoloFileTest test(random);
  test.add_mixture();
  test.write({});
  const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
  StepParts steps;
  for (const HoloTensor& tensor : file.header().tensors) steps.push_back({1, tensor.parts.size()});
  const auto plan = PackedPlan::make(*file.index(), offsets_of(file), steps).value();
  // The first step's shards come first, and nothing is read twice.
  std::set<uint64_t> read;
  bool is_first_step = true;
  for (const PackedShard& shard : plan.shards()) {
    ASSERT_TRUE(read.insert(shard.shard).second);
    const bool is_of_first_part = first_parts(file).contains(shard.shard);
    ASSERT_TRUE(is_first_step || !is_of_first_part);
    is_first_step = is_of_first_part;
  }
  EXPECT_EQ(PackedPlan::make(*file.index(), {1, 2, 3}, steps).error().code, ErrorCode::corrupt);
}

// Chunks go into the ring as early as it says that they may, regions are decoded as late as that
// leaves them.
void check_ring(const PackedPlan& plan, const HoloTensorReader& file, uint64_t chunk_bytes,
                std::mt19937_64& random) {
  PackedReader reader(plan, file.container().source());
  std::vector<std::byte> ring(plan.ring_bytes());
  std::vector<std::byte> chunk(chunk_bytes);
  size_t decoded = 0;
  uint64_t free = 0;
  const auto decode = [&] {
    const PackedRegion& region = plan.regions()[decoded++];
    for (const ReadyTensor& ready : region.ready) {
      for (size_t part = 0; part < ready.parts; ++part) {
        std::vector<std::byte> stored(file.header().tensors[ready.tensor].parts[part].bytes);
        ASSERT_TRUE(
            file.fetcher().read_stream(file.layout().part_stream(ready.tensor, part), stored));
        const uint64_t at = plan.in_ring(plan.part(ready.tensor, part));
        ASSERT_LE(at + stored.size() + PackedPlan::kMargin, ring.size());
        ASSERT_TRUE(
            std::equal(stored.begin(), stored.end(), ring.begin() + static_cast<ptrdiff_t>(at)))
            << "tensor " << ready.tensor << " part " << part;
      }
    }
    ASSERT_GE(region.free_before, free);
    ASSERT_LE(region.free_before, region.end);
    free = region.free_before;
  };
  for (uint64_t begin = 0; begin < plan.arena_bytes();) {
    const uint64_t end = std::min(plan.arena_bytes(), begin + 1 + random() % chunk_bytes);
    while (free + ring.size() < end) {
      ASSERT_LT(decoded, plan.regions().size());
      ASSERT_LE(plan.regions()[decoded].end, begin) << "the chunk would wait for itself";
      decode();
      if (testing::Test::HasFatalFailure()) return;
    }
    ASSERT_TRUE(reader.read(begin, std::span(chunk).first(end - begin)));
    for (uint64_t at = begin; at < end; ++at) ring[plan.in_ring(at)] = chunk[at - begin];
    begin = end;
  }
  while (decoded < plan.regions().size()) decode();
}

TEST(PackedPlanTest, ARingHoldsWhatIsWanted) {
  std::mt19937_64 random(test_seed());
  size_t rings = 0;
  for (const FileOrder order : {FileOrder::layer, FileOrder::tensor}) {
    HoloFileTest test(random);
    for (int i = 0; i < 20; ++i) {
      test.add(DType::bf16, {50 + random() % 200, 700});
      if (i % 3 == 0) test.add(DType::f32, {1 + random() % 4000});
    }
    test.write({.encode = {}, .order = order});
    const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
    for (int round = 0; round < 20; ++round) {
      StepParts steps = random_steps(file.header(), random);
      if (round % 2 == 0) {
        for (std::vector<size_t>& parts : steps) {
          if (parts.size() > 1) parts.erase(parts.begin(), parts.end() - 1);
        }
      }
      const PackedPlanOptions options = {.region_bytes = 1 + random() % 300000,
                                         .chunk_bytes = 1 + random() % 50000,
                                         .ahead_bytes = random() % 100000};
      const auto plan = PackedPlan::make(*file.index(), offsets_of(file), steps, options).value();
      if (plan.regions().empty()) continue;
      rings += plan.ring_bytes() < plan.arena_bytes() ? 1 : 0;
      check_regions(plan, file, steps);
      check_ring(plan, file, options.chunk_bytes, random);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GE(rings, 5u);  // 28 of 40, usually
}

}  // namespace
}  // namespace hoist::tensors
