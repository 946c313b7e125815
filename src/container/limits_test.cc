// Containers that lie about themselves, with every checksum right; files beyond 4 GiB; and what a
// reader allocates, counted.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/file.h"
#include "container/container_testing.h"
#include "container/frames.h"
#include "container/mend_testing.h"
#include "container/verify.h"

namespace {

// What operator new has given out and not got back, and the most that it was.
std::atomic<size_t> allocated = 0;
std::atomic<size_t> most_allocated = 0;
// operator new fails once this many more calls have succeeded.
std::atomic<int64_t> calls_until_failure = INT64_MAX;

// The size lies in front of each piece of memory.
constexpr size_t kFront = 64;

void* allocate(size_t size, size_t alignment) {
  if (size > (size_t{1} << 40) || calls_until_failure-- <= 0) return nullptr;
  const size_t front = std::max(kFront, alignment);
  void* memory = nullptr;
  if (::posix_memalign(&memory, front, size + front) != 0) return nullptr;
  char* given = static_cast<char*>(memory) + front;
  std::memcpy(given - sizeof size, &size, sizeof size);
  const size_t now = allocated += size;
  size_t most = most_allocated;
  while (now > most && !most_allocated.compare_exchange_weak(most, now)) {
  }
  return given;
}

void release(void* given, size_t alignment) {
  if (given == nullptr) return;
  size_t size;
  std::memcpy(&size, static_cast<char*>(given) - sizeof size, sizeof size);
  allocated -= size;
  std::free(static_cast<char*>(given) - std::max(kFront, alignment));
}

void* allocate_or_throw(size_t size, size_t alignment) {
  void* memory = allocate(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return allocate_or_throw(size, 1); }
void* operator new[](size_t size) { return allocate_or_throw(size, 1); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return allocate(size, 1); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return allocate(size, 1); }
void* operator new(size_t size, std::align_val_t to) {
  return allocate_or_throw(size, static_cast<size_t>(to));
}
void operator delete(void* memory) noexcept { release(memory, 1); }
void operator delete[](void* memory) noexcept { release(memory, 1); }
void operator delete(void* memory, size_t) noexcept { release(memory, 1); }
void operator delete[](void* memory, size_t) noexcept { release(memory, 1); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory, 1); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { release(memory, 1); }
void operator delete(void* memory, std::align_val_t to) noexcept {
  release(memory, static_cast<size_t>(to));
}
void operator delete(void* memory, size_t, std::align_val_t to) noexcept {
  release(memory, static_cast<size_t>(to));
}

namespace hoist::container {
namespace {

// The most that `body` had allocated at a time.
template <typename Body>
size_t peak_of(const Body& body) {
  const size_t before = allocated;
  most_allocated = before;
  body();
  return most_allocated - before;
}

// What container/reader.h promises.
size_t open_bound(uint64_t file_size, const Limits& limits, size_t metadata) {
  return static_cast<size_t>(4 * std::min(file_size, limits.index)) + metadata + (size_t{1} << 20);
}

std::string container_of(const Model& model, const WriterOptions& options) {
  const Scratch scratch;
  write_container(scratch.file("c"), model, options);
  return bytes_of_file(scratch.file("c"));
}

TEST(Limits, OpeningManyBlocksKeepsToTheBound) {
  std::mt19937_64 random(test_seed());
  Model model;
  for (uint64_t i = 0; i < 100000; ++i) model.push_back(model_block(random(), ""));
  for (const bool digests : {false, true}) {
    std::string bytes = container_of(model, {.metadata = "m", .digests = digests});
    const size_t bound = open_bound(bytes.size(), {}, 1);
    EXPECT_LE(peak_of([&] { ASSERT_EQ(open_bytes(bytes)->blocks().size(), 100000u); }), bound);
    bytes.pop_back();  // found by walking
    EXPECT_LE(peak_of([&] { ASSERT_EQ(open_bytes(bytes)->blocks().size(), 100000u); }), bound);

    for (const bool whole : {true, false}) {
      if (whole) bytes = container_of(model, {.digests = digests});
      if (!whole) bytes.pop_back();
      const ReaderOptions tight{.limits = {.index = 1 << 20}};
      const size_t peak =
          peak_of([&] { EXPECT_EQ(open_bytes(bytes, tight).error().code, ErrorCode::exhausted); });
      EXPECT_LE(peak, open_bound(bytes.size(), tight.limits, 0));
    }
  }
}

TEST(Limits, MetadataAndBlocksHaveTheirs) {
  const std::string bytes =
      container_of({model_block(1, std::string(5000, 'x'))}, {.metadata = std::string(500, 'm')});
  EXPECT_EQ(open_bytes(bytes, {.limits = {.metadata = 499}}).error().code, ErrorCode::exhausted);
  const auto reader = open_bytes(bytes, {.limits = {.metadata = 500, .block = 4999}});
  ASSERT_TRUE(reader);
  const Block& block = reader->blocks()[0];
  EXPECT_EQ(reader->read(block).error().code, ErrorCode::exhausted);
  std::vector<std::byte> own(5000);
  EXPECT_TRUE(reader->read(block, own));
  EXPECT_EQ(reader->read(block, MutableBytes(own).first(4999)).error().code,
            ErrorCode::invalid_argument);
  Block elsewhere = block;
  elsewhere.raw_size = elsewhere.stored_size = 5;
  elsewhere.offset = UINT64_MAX - 10;
  EXPECT_EQ(reader->read(elsewhere).error().code, ErrorCode::corrupt);
  EXPECT_EQ(reader->view(elsewhere).error().code, ErrorCode::corrupt);
}

// Fields of frames, lists and entries set to what an attacker would, checksums mended.
TEST(Limits, LiesAreBoundedAndFound) {
  std::mt19937_64 random(test_seed());
  const Model model = random_model(random, 6, 40);
  std::vector<std::string> originals;
  for (const bool digests : {false, true}) {
    originals.push_back(container_of(model, {.metadata = "m", .digests = digests}));
    originals.push_back(
        container_of(model, {.metadata = "m", .digests = digests, .plan = plan_of(model)}));
  }
  for (int round = 0; round < 10000; ++round) {
    std::string bytes = originals[random() % originals.size()];
    for (uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
      const uint64_t values[] = {0,
                                 1,
                                 random() % bytes.size(),
                                 bytes.size(),
                                 uint64_t{1} << 31,
                                 uint64_t{1} << 60,
                                 uint64_t{1} << 63,
                                 UINT64_MAX,
                                 random()};
      const uint64_t value = values[random() % std::size(values)];
      const size_t width = size_t{1} << random() % 4;
      std::memcpy(&bytes[random() % (bytes.size() - 8)], &value, width);
    }
    mend_checksums(bytes);
    SCOPED_TRACE(round);
    const size_t peak = peak_of([&] {
      const auto reader = open_bytes(bytes);
      if (!reader) return;
      for (const Block& block : reader->blocks()) {
        ASSERT_LE(block.end(), bytes.size());
        const auto read = reader->read(block);
        const auto view = reader->view(block);
        ASSERT_EQ(read.has_value(), view.has_value());
        if (read) {
          ASSERT_EQ(text_of(*read), text_of(*view));
        }
      }
    });
    ASSERT_LE(peak, open_bound(bytes.size(), {}, bytes.size()) + bytes.size());
    if (round % 10 == 0) {
      const auto report = verify(*memory_source(as_bytes(bytes)));
      ASSERT_TRUE(report || report.error().code == ErrorCode::unsupported);
    }
  }
}

// Wherever memory runs out, there is an error and no container that contradicts itself.
TEST(Limits, AWriterWithoutMemoryCommitsNothing) {
  const Scratch scratch;
  const std::string path = scratch.file("c");
  const Model model = {model_block(1, "one"), model_block(2, "two", 4), model_block(3, "three")};
  bool committed = false;
  for (int64_t calls = 0; !committed; ++calls) {
    ASSERT_LT(calls, 1000);
    SCOPED_TRACE(calls);
    write_container(path, {model_block(9, "old")}, {.digests = true});
    {
      auto writer = Writer::append(path, {.durable = false});
      ASSERT_TRUE(writer);
      calls_until_failure = calls;
      committed = true;
      for (const ModelBlock& block : model) {
        committed = writer->add(block.info, as_bytes(block.bytes)) && committed;
      }
      committed = writer->commit() && committed;
      calls_until_failure = INT64_MAX;
      ASSERT_EQ(writer->commit().has_value(), committed);
    }
    const auto report = verify(**open_file_source(path));
    ASSERT_TRUE(report);
    ASSERT_TRUE(report->ok());
    ASSERT_EQ(report->blocks, committed ? 4u : 1u);
  }
}

// Appends commits that each list nothing and point to the one before.
std::string with_empty_commits(std::string bytes, size_t count) {
  uint64_t previous = *find_last_commit(*memory_source(as_bytes(bytes)));
  for (; count > 0; --count) {
    Frame commit;
    commit.section = Section::commit;
    commit.offset = bytes.size();
    std::string list = encode_list({.previous = previous}, {}, {});
    encode_trailer(commit.offset, commit.offset + kFrameHeaderSize + list.size(), list);
    commit.raw_size = commit.stored_size = list.size();
    commit.payload_checksum = checksum(as_bytes(list));
    const auto header = encode_frame_header(commit);
    bytes.append(reinterpret_cast<const char*>(header.data()), header.size()).append(list);
    previous = commit.offset;
  }
  return bytes;
}

TEST(Limits, AChainOfManyEmptyListsIsRefusedNotLoaded) {
  const std::string empty = container_of({}, {});
  EXPECT_EQ(open_bytes(with_empty_commits(empty, kMaxLists - 1))->state(), IndexState::committed);
  const std::string bytes = with_empty_commits(empty, 50000);
  const size_t peak =
      peak_of([&] { EXPECT_EQ(open_bytes(bytes)->state(), IndexState::recovered); });
  EXPECT_LE(peak, size_t{1} << 20);
}

// What reads a source costs in proportion to its size, also where every frame lies behind a gap.
TEST(Limits, ManyGapsAreReadOnce) {
  std::string bytes = container_of({}, {});
  for (uint64_t id = 0; id < 20000; ++id) {
    bytes += '?';
    Frame block;
    block.id = id;
    block.offset = bytes.size();
    block.payload_checksum = checksum({});
    const auto header = encode_frame_header(block);
    bytes.append(reinterpret_cast<const char*>(header.data()), header.size());
  }
  uint64_t fetched = 0;
  const auto source = range_source(bytes.size(), [&](uint64_t offset, size_t size) {
    fetched += size;
    return Result<std::string>(bytes.substr(offset, size));
  });
  const auto report = verify(*source);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->blocks, 20000u);
  EXPECT_EQ(report->damage_count, 20001u);
  EXPECT_LE(fetched, 3 * bytes.size());
}

TEST(Limits, ASourceThatClaimsToBeHugeCostsLittle) {
  const auto zeros = [](uint64_t, size_t size) {
    return Result<std::string>(std::string(size, 0));
  };
  const size_t peak = peak_of([&] {
    const auto reader = Reader::open(range_source(kMaxSize, zeros));
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().code, ErrorCode::corrupt);
  });
  EXPECT_LE(peak, size_t{1} << 20);
}

// A block of 5 GiB that is a hole: its checksum is not that of zeros, and nobody reads it.
TEST(Limits, FilesBeyondFourGibibytes) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const std::string path = scratch.file("c");
  constexpr uint64_t kHole = (uint64_t{5} << 30) + 123;
  write_container(path, {}, {.durable = false});
  const uint64_t start = std::filesystem::file_size(path);
  Frame hole;
  hole.id = 1;
  hole.raw_size = hole.stored_size = kHole;
  hole.offset = start;
  const ModelBlock behind = model_block(2, "behind", 12);
  {
    // By hand up to the commit, which is that of a container of the same blocks.
    const Result<UniqueFd> fd = open_file(path, O_RDWR);
    const auto header = encode_frame_header(hole);
    ASSERT_TRUE(pwrite_full(fd->get(), header.data(), header.size(), start));
    Frame commit;
    commit.section = Section::commit;
    commit.id = 1;
    commit.offset = hole.end();
    std::string list = encode_list({.total = 1}, std::array<Block, 1>{hole}, {});
    encode_trailer(commit.offset, commit.offset + kFrameHeaderSize + list.size(), list);
    commit.raw_size = commit.stored_size = list.size();
    commit.payload_checksum = checksum(as_bytes(list));
    const auto commit_header = encode_frame_header(commit);
    ASSERT_TRUE(pwrite_full(fd->get(), commit_header.data(), kFrameHeaderSize, commit.offset));
    ASSERT_TRUE(pwrite_full(fd->get(), list.data(), list.size(), commit.offset + kFrameHeaderSize));
  }
  append_session(path, {behind});
  const auto expect_both = [&](const Reader& reader) {
    ASSERT_EQ(reader.blocks().size(), 2u);
    EXPECT_EQ(reader.find(1)->stored_size, kHole);
    const Block& block = *reader.find(2);
    EXPECT_GT(block.offset, uint64_t{5} << 30);
    EXPECT_EQ(text_of(*reader.read(block)), "behind");
  };
  expect_both(*Reader::open(path));
  EXPECT_EQ(
      text_of(*Reader::open(std::move(*map_file_source(path)))->view(*Reader::open(path)->find(2))),
      "behind");
  const Result<UniqueFd> fd = open_file(path, O_RDWR | O_APPEND);
  ASSERT_TRUE(write_full(fd->get(), "torn", 4));
  const auto walked = Reader::open(path);
  EXPECT_EQ(walked->state(), IndexState::recovered);
  expect_both(*walked);
  append_session(path, {model_block(3, "more")});
  EXPECT_EQ(Reader::open(path)->state(), IndexState::committed);
}

}  // namespace
}  // namespace hoist::container
