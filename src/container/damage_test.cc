// Small containers cut off at every byte and with every byte changed: readers give what was written
// or an error, the verifier finds every change, repair saves every intact block.
#include <algorithm>

#include "container/container_testing.h"
#include "container/repair.h"
#include "container/verify.h"

namespace hoist::container {
namespace {

struct Session {
  uint64_t end;   // of its commit
  size_t blocks;  // up to here
};

struct Sample {
  std::string name;
  std::string bytes;
  Model model;
  std::vector<Block> blocks;
  std::vector<Session> sessions;
  uint64_t head_end = 0;  // of the metadata
};

Sample make_sample(const std::string& name, WriterOptions options, std::vector<Model> sessions,
                   bool front) {
  const Scratch scratch;
  const std::string path = scratch.file("c");
  Sample sample;
  sample.name = name;
  options.kind = 77;
  options.metadata = "metadata";
  for (size_t i = 0; i < sessions.size(); ++i) {
    if (i == 0) {
      if (front) options.plan = plan_of(sessions[0]);
      write_container(path, sessions[0], options);
    } else {
      append_session(path, sessions[i]);
    }
    sample.model.insert(sample.model.end(), sessions[i].begin(), sessions[i].end());
    sample.sessions.push_back({std::filesystem::file_size(path), sample.model.size()});
  }
  const auto reader = Reader::open(path);
  sample.blocks.assign(reader->blocks().begin(), reader->blocks().end());
  sample.bytes = bytes_of_file(path);
  sample.head_end = reader->metadata_frame().end();
  return sample;
}

std::vector<Sample> samples() {
  const Model first = {model_block(3, "three"), model_block(1, "", 0), model_block(2, "two", 6)};
  const Model second = {model_block(9, std::string(70, 'n')), model_block(4, "four", 4)};
  const Model third = {model_block(5, "V")};
  return {
      make_sample("one pass", {}, {first}, false),
      make_sample("front", {}, {first}, true),
      make_sample("appended", {}, {first, second, third}, false),
      make_sample("front, digests, appended", {.digests = true}, {first, second}, true),
      make_sample("empty", {}, {{}}, false),
  };
}

// Whatever the reader gives is what was written.
void expect_only_truth(const Reader& reader, const Sample& sample) {
  for (const Block& block : reader.blocks()) {
    const auto known = std::find(sample.blocks.begin(), sample.blocks.end(), block);
    ASSERT_NE(known, sample.blocks.end());
    const Result<BlockBytes> bytes = reader.read(block);
    if (!bytes) continue;
    ASSERT_EQ(text_of(*bytes),
              sample.model[static_cast<size_t>(known - sample.blocks.begin())].bytes);
  }
}

// The blocks of the last commit before `size`; before the first, all that are whole.
size_t visible_blocks(const Sample& sample, uint64_t size) {
  size_t visible = 0;
  if (size < sample.sessions[0].end) {
    for (const Block& block : sample.blocks) visible += block.end() <= size ? 1 : 0;
    return visible;
  }
  for (const Session& session : sample.sessions) {
    if (session.end <= size) visible = session.blocks;
  }
  return visible;
}

TEST(Damage, CutOffAtEveryByte) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  for (const Sample& sample : samples()) {
    for (size_t size = 0; size < sample.bytes.size(); ++size) {
      SCOPED_TRACE(sample.name + ", cut off at " + std::to_string(size));
      const std::string_view cut = std::string_view(sample.bytes).substr(0, size);
      const auto reader = open_bytes(cut);
      if (size < sample.head_end) {
        ASSERT_FALSE(reader);
        ASSERT_EQ(reader.error().code, ErrorCode::corrupt);
        continue;
      }
      ASSERT_TRUE(reader) << reader.error().message;
      ASSERT_NO_FATAL_FAILURE(
          expect_blocks(*reader, sample.model, visible_blocks(sample, size), random));
      const bool at_commit = std::any_of(sample.sessions.begin(), sample.sessions.end(),
                                         [&](const Session& s) { return s.end == size; });
      ASSERT_EQ(reader->state() == IndexState::committed, at_commit);
      const auto report = verify(*memory_source(as_bytes(cut)));
      ASSERT_TRUE(report);
      ASSERT_EQ(report->ok(), at_commit);
    }
  }
}

TEST(Damage, RepairSavesEveryWholeBlockOfACutFile) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  for (const Sample& sample : samples()) {
    for (size_t size = 0; size < sample.bytes.size(); size += 1 + random() % 3) {
      SCOPED_TRACE(sample.name + ", cut off at " + std::to_string(size));
      std::filesystem::remove(scratch.file("r"));  // renaming over it would wait for the disk
      const auto cut = memory_source(as_bytes(std::string_view(sample.bytes).substr(0, size)));
      const auto report = repair(*cut, scratch.file("r"), {.durable = false});
      if (!report) {
        ASSERT_LT(size, sample.head_end);
        continue;
      }
      const auto repaired = Reader::open(scratch.file("r"));
      ASSERT_TRUE(repaired);
      ASSERT_EQ(repaired->header().kind, 77u);
      ASSERT_EQ(text_of(repaired->metadata()), "metadata");
      size_t whole = 0;
      for (const Block& block : sample.blocks) whole += block.end() <= size ? 1 : 0;
      ASSERT_NO_FATAL_FAILURE(expect_blocks(*repaired, sample.model, whole, random));
    }
  }
}

TEST(Damage, EveryChangedByteIsFound) {
  std::mt19937_64 random(test_seed());
  for (const Sample& sample : samples()) {
    std::string bytes = sample.bytes;
    for (size_t at = 0; at < bytes.size(); ++at) {
      SCOPED_TRACE(sample.name + ", changed at " + std::to_string(at));
      const char before = bytes[at];
      const char masks[] = {static_cast<char>(1 << random() % 8), '\xff'};
      for (const char mask : masks) {
        bytes[at] = static_cast<char>(before ^ mask);
        const auto report = verify(*memory_source(as_bytes(bytes)));
        ASSERT_TRUE(report) << report.error().message;
        ASSERT_FALSE(report->ok());
        const auto reader = open_bytes(bytes);
        if (reader) {
          ASSERT_NO_FATAL_FAILURE(expect_only_truth(*reader, sample));
        }
        bytes[at] = before;
      }
    }
  }
}

// A change costs the block that it hits and no other; one in an index costs nothing.
TEST(Damage, RepairLosesOnlyWhatWasHit) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  for (const Sample& sample : samples()) {
    std::string bytes = sample.bytes;
    for (size_t at = 0; at < bytes.size(); at += 1 + random() % 3) {
      SCOPED_TRACE(sample.name + ", changed at " + std::to_string(at));
      std::filesystem::remove(scratch.file("r"));
      bytes[at] ^= '\x10';
      const auto report =
          repair(*memory_source(as_bytes(bytes)), scratch.file("r"), {.durable = false});
      bytes[at] ^= '\x10';
      ASSERT_TRUE(report) << report.error().message;
      EXPECT_GT(report->damage_count, 0u);
      Model intact;
      for (size_t i = 0; i < sample.blocks.size(); ++i) {
        const Block& block = sample.blocks[i];
        if (at < block.offset || at >= block.end()) intact.push_back(sample.model[i]);
      }
      const auto repaired = Reader::open(scratch.file("r"));
      ASSERT_TRUE(repaired);
      ASSERT_NO_FATAL_FAILURE(expect_blocks(*repaired, intact, intact.size(), random));
      ASSERT_EQ(repaired->header().kind, 77u);
      const bool in_metadata = at >= kFileHeaderSize && at < sample.head_end;
      ASSERT_EQ(report->metadata_lost, in_metadata);
      ASSERT_TRUE(verify(repaired->source())->ok());
    }
  }
}

// A reader without its index sees what the last commit saw.
TEST(Damage, ADamagedIndexIsRebuilt) {
  std::mt19937_64 random(test_seed());
  for (Sample& sample : samples()) {
    sample.bytes[sample.bytes.size() - kTrailerSize - 1] ^= 1;  // in the list
    const auto reader = open_bytes(sample.bytes);
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(reader->state(), IndexState::recovered);
    expect_blocks(*reader, sample.model, sample.model.size(), random);
  }
}

TEST(Damage, AppendingGoesOnAfterTheLastCommitOrRefuses) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const std::string path = scratch.file("c");
  const Model more = {model_block(100, "more")};
  for (const Sample& sample : samples()) {
    for (size_t size = sample.head_end; size <= sample.bytes.size(); size += 1 + random() % 3) {
      SCOPED_TRACE(sample.name + ", cut off at " + std::to_string(size));
      write_bytes(path, std::string_view(sample.bytes).substr(0, size));
      if (size < sample.sessions[0].end) {
        ASSERT_EQ(Writer::append(path).error().code, ErrorCode::corrupt);
        continue;
      }
      const size_t visible = visible_blocks(sample, size);
      ASSERT_NO_FATAL_FAILURE(append_session(path, more));
      Model expected(sample.model.begin(), sample.model.begin() + static_cast<ptrdiff_t>(visible));
      expected.push_back(more[0]);
      const auto reader = Reader::open(path);
      ASSERT_TRUE(reader);
      ASSERT_NO_FATAL_FAILURE(expect_blocks(*reader, expected, expected.size(), random));
      ASSERT_TRUE(verify(reader->source())->ok());
    }
  }
}

// Also where the commit that would be lost is found by one of its ends only.
TEST(Damage, AppendingNeverDropsACommitWithoutItsTrailer) {
  const Scratch scratch;
  const std::string path = scratch.file("c");
  for (const Sample& sample : samples()) {
    if (sample.sessions.size() < 2) continue;
    std::string bytes = sample.bytes;
    bytes.back() ^= 1;
    bytes[sample.blocks.back().offset] ^= 1;
    write_bytes(path, bytes);
    EXPECT_EQ(Writer::append(path).error().code, ErrorCode::corrupt) << sample.name;
    EXPECT_EQ(bytes_of_file(path), bytes);
  }
}

// What was committed is never cut off because an earlier frame became unreadable.
TEST(Damage, AppendingNeverDropsACommit) {
  const Scratch scratch;
  const std::string path = scratch.file("c");
  for (const Sample& sample : samples()) {
    std::string bytes = sample.bytes;
    for (size_t at = sample.head_end; at < bytes.size(); ++at) {
      SCOPED_TRACE(sample.name + ", changed at " + std::to_string(at));
      bytes[at] ^= '\x04';
      write_bytes(path, bytes);
      const auto writer = Writer::append(path);
      if (writer) {
        const auto reader = Reader::open(path);
        ASSERT_TRUE(reader);
        ASSERT_EQ(reader->blocks().size(), sample.model.size());
      } else {
        ASSERT_EQ(bytes_of_file(path), bytes);
      }
      bytes[at] ^= '\x04';
    }
  }
}

}  // namespace
}  // namespace hoist::container
