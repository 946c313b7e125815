// Containers written in every way and read from every source, against the blocks that went in.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "base/file.h"
#include "container/container_testing.h"
#include "container/frames.h"
#include "container/mend_testing.h"
#include "container/repair.h"
#include "container/verify.h"

namespace hoist::container {
namespace {

void expect_verified(const std::string& path) {
  const auto report = verify(**open_file_source(path));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->ok()) << report->damage[0].what << " at " << report->damage[0].offset;
}

// From a file, a mapped file, memory and ranges.
void expect_from_every_source(const std::string& path, const Model& model,
                              const WriterOptions& options, std::mt19937_64& random) {
  const std::string bytes = bytes_of_file(path);
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::move(*open_file_source(path)));
  sources.push_back(std::move(*map_file_source(path)));
  sources.push_back(memory_source(as_bytes(bytes)));
  sources.push_back(range_source(bytes.size(), [&](uint64_t offset, size_t size) {
    return Result<std::string>(bytes.substr(offset, size));
  }));
  for (auto& source : sources) {
    const bool in_memory = source->data() != nullptr;
    Result<Reader> reader = Reader::open(std::move(source));
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(reader->state(), IndexState::committed);
    EXPECT_EQ(reader->header().kind, options.kind);
    EXPECT_EQ(text_of(reader->metadata()), options.metadata);
    ASSERT_NO_FATAL_FAILURE(expect_blocks(*reader, model, model.size(), random));
    EXPECT_EQ(reader->find(1), nullptr);
    for (const Block& block : reader->blocks()) {
      const Result<Bytes> view = reader->view(block);
      ASSERT_EQ(view.has_value(), in_memory);
      if (!in_memory) continue;
      ASSERT_EQ(text_of(*view), model[&block - reader->blocks().data()].bytes);
    }
  }
}

TEST(Container, WrittenInEveryWayReadsBackFromEverySource) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const std::string path = scratch.file("c");
  for (int round = 0; round < 40; ++round) {
    const bool front = round % 2 == 1;
    const size_t sessions = round % 4 >= 2 ? 1 + random() % 6 : 0;
    const size_t largest = round % 10 == 0 ? 3u << 20 : 5000;
    Model model = random_model(random, random() % 12, largest);
    WriterOptions options{.kind = four_letters("TEST"),
                          .metadata = random_bytes(random, random() % 300),
                          .digests = random() % 2 == 0};
    if (front) options.plan = plan_of(model);
    ASSERT_NO_FATAL_FAILURE(write_container(path, model, options));
    for (size_t session = 0; session < sessions; ++session) {
      const Model more = random_model(random, random() % 5, largest, 1000 + session * 100);
      ASSERT_NO_FATAL_FAILURE(append_session(path, more));
      model.insert(model.end(), more.begin(), more.end());
    }
    ASSERT_NO_FATAL_FAILURE(expect_from_every_source(path, model, options, random));
    ASSERT_NO_FATAL_FAILURE(expect_verified(path));
  }
  EXPECT_EQ(scratch.files(), 1u);
}

TEST(Container, OneWriterMayCommitManyTimes) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const std::string path = scratch.file("c");
  const Model model = random_model(random, 200, 50);
  auto writer = Writer::create(path, {.digests = true, .durable = false});
  ASSERT_TRUE(writer);
  for (size_t i = 0; i < model.size(); ++i) {
    ASSERT_TRUE(writer->add(model[i].info, as_bytes(model[i].bytes)));
    ASSERT_TRUE(writer->commit());
    ASSERT_TRUE(writer->commit());  // nothing new: nothing written
    if (i % 20 != 0) continue;
    const auto reader = Reader::open(path, {.root = writer->root()});
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(reader->state(), IndexState::committed);
    ASSERT_NO_FATAL_FAILURE(expect_blocks(*reader, model, i + 1, random));
    // One list for each binary order of magnitude, about.
    EXPECT_LE(reader->index().lists.size(), 9u);
  }
  expect_verified(path);
}

TEST(Container, AppendingToAFileThatWasReplacedFails) {
  const Scratch scratch;
  const std::string path = scratch.file("c");
  ASSERT_NO_FATAL_FAILURE(write_container(path, {}, {}));
  auto writer = Writer::append(path, {});
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->add(1, as_bytes(std::string("one"))));
  ASSERT_TRUE(writer->commit());
  ASSERT_NO_FATAL_FAILURE(write_container(scratch.file("new"), {}, {}));
  ASSERT_EQ(::rename(scratch.file("new").c_str(), path.c_str()), 0);
  ASSERT_TRUE(writer->add(2, as_bytes(std::string("two"))));
  const Status done = writer->commit();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::io);
  EXPECT_NE(done.error().message.find("replaced or removed"), std::string::npos);
  EXPECT_FALSE(writer->commit());
}

TEST(Container, EmptyOnesAreContainers) {
  const Scratch scratch;
  for (const bool front : {false, true}) {
    WriterOptions options;
    if (front) options.plan.emplace();
    ASSERT_NO_FATAL_FAILURE(write_container(scratch.file("c"), {}, options));
    const auto reader = Reader::open(scratch.file("c"));
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_TRUE(reader->blocks().empty());
    expect_verified(scratch.file("c"));
  }
}

TEST(Container, IsTheSameThroughAPipe) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const Model model = random_model(random, 20, 200000);
  for (const bool front : {false, true}) {
    WriterOptions options{.metadata = "m"};
    if (front) options.plan = plan_of(model);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    std::string received;
    std::thread reading([&] {
      char buffer[4096];
      for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
        received.append(buffer, static_cast<size_t>(got));
      }
    });
    {
      auto writer = Writer::stream(ends[1], options);
      ASSERT_TRUE(writer);
      add_all(*writer, model);
      EXPECT_TRUE(writer->commit());
    }
    ::close(ends[1]);
    reading.join();
    ::close(ends[0]);
    write_container(scratch.file("c"), model, options);
    EXPECT_EQ(received, bytes_of_file(scratch.file("c")));
  }
}

TEST(Container, AWriterThatIsNotCommittedLeavesNothing) {
  const Scratch scratch;
  const std::string path = scratch.file("c");
  {
    auto writer = Writer::create(path);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->add(1, as_bytes("x")));
  }
  EXPECT_EQ(scratch.files(), 0u);
  write_container(path, {model_block(1, "old")}, {});
  const std::string before = bytes_of_file(path);
  {
    auto replacing = Writer::create(path);
    ASSERT_TRUE(replacing->add(1, as_bytes("new")));
  }
  {
    auto appending = Writer::append(path);
    ASSERT_TRUE(appending->add(2, as_bytes(std::string(1 << 20, 'x'))));
    EXPECT_GT(std::filesystem::file_size(path), before.size());
  }
  EXPECT_EQ(bytes_of_file(path), before);
  EXPECT_EQ(scratch.files(), 1u);
  EXPECT_FALSE(Writer::create(scratch.file("missing/c")));
  EXPECT_EQ(Writer::append(scratch.file("none")).error().code, ErrorCode::not_found);
}

TEST(Container, RefusesWhatBreaksItsRules) {
  const Scratch scratch;
  const std::string path = scratch.file("c");
  const auto refuses = [](const Status& status) {
    return !status && status.error().code == ErrorCode::invalid_argument;
  };
  auto writer = Writer::create(path, {.durable = false});
  ASSERT_TRUE(writer->add(1, as_bytes("one")));
  EXPECT_TRUE(refuses(writer->add(1, as_bytes("one"))));
  EXPECT_TRUE(refuses(writer->add({.id = 2, .raw_size = 4}, as_bytes("abc"))));
  EXPECT_TRUE(refuses(writer->add({.id = 2, .raw_size = 3, .stored_size = 4}, as_bytes("abc"))));
  EXPECT_TRUE(
      refuses(writer->add({.id = 2, .raw_size = 3, .alignment_log2 = 13}, as_bytes("abc"))));
  EXPECT_TRUE(refuses(writer->add({.id = 2, .raw_size = UINT64_MAX, .codec = 1}, as_bytes("abc"))));
  ASSERT_TRUE(writer->commit());
  EXPECT_TRUE(refuses(writer->add(1, as_bytes("one"))));

  const Model model = {model_block(1, "one"), model_block(2, "two")};
  const std::string other = scratch.file("other");
  auto planned = Writer::create(other, {.plan = plan_of(model), .durable = false});
  EXPECT_TRUE(refuses(planned->add(2, as_bytes("two"))));
  EXPECT_TRUE(refuses(planned->add(1, as_bytes("four"))));
  ASSERT_TRUE(planned->add(1, as_bytes("one")));
  EXPECT_TRUE(refuses(planned->commit()));
  ASSERT_TRUE(planned->add(2, as_bytes("two")));
  EXPECT_TRUE(planned->commit());
  EXPECT_TRUE(planned->add(3, as_bytes("beyond the plan")));
  EXPECT_TRUE(planned->commit());
  expect_verified(other);
  EXPECT_FALSE(Writer::create(scratch.file("twice"), {.plan = plan_of({model[0], model[0]})}));
}

TEST(Container, AFileOfANewerVersionIsNotDamaged) {
  const Scratch scratch;
  write_container(scratch.file("c"), {model_block(1, "x")}, {});
  for (const size_t field : {8, 10, 16}) {  // version, flags, reserved
    std::string bytes = bytes_of_file(scratch.file("c"));
    bytes[field] = 64;
    mend_last_eight(bytes, 0, kFileHeaderSize, 0);
    EXPECT_EQ(open_bytes(bytes).error().code, ErrorCode::unsupported);
    const auto source = memory_source(as_bytes(bytes));
    EXPECT_EQ(verify(*source).error().code, ErrorCode::unsupported);
    EXPECT_EQ(repair(*source, scratch.file("r")).error().code, ErrorCode::unsupported);
    EXPECT_FALSE(std::filesystem::exists(scratch.file("r")));
  }
}

// A block of most of the file is read and hashed side by side.
TEST(Container, OneLargeBlockIsVerified) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const std::string path = scratch.file("c");
  const Model model = {model_block(1, "small"),
                       model_block(2, random_bytes(random, (40u << 20) + random() % 100), 12),
                       model_block(3, "small, too")};
  for (const bool digests : {false, true}) {
    write_container(path, model, {.digests = digests});
    std::string bytes = bytes_of_file(path);
    uint64_t told = 0;
    const auto progress = [&](uint64_t done, uint64_t total) {
      EXPECT_GE(done, told);
      EXPECT_LE(done, total);
      told = done;
    };
    const Block block = open_bytes(bytes)->blocks()[1];
    for (const auto& source : {open_file_source(path), map_file_source(path)}) {
      const auto report = verify(**source, {.progress = progress});
      ASSERT_TRUE(report);
      EXPECT_TRUE(report->ok());
      EXPECT_EQ(report->root.has_value(), digests);
      EXPECT_EQ(told, bytes.size() - kFileHeaderSize);
      told = 0;
    }
    for (const uint64_t at : {block.payload_offset() - 1, block.end() - 1}) {
      bytes[at] ^= 1;
      write_bytes(path, bytes);
      const auto report = verify(**open_file_source(path));
      bytes[at] ^= 1;
      ASSERT_EQ(report->damage_count, at < block.payload_offset() ? 1u : digests ? 2u : 1u);
      EXPECT_EQ(report->damage[0].block, 2u);
    }
    const uint64_t middle = bytes.size() / 2;
    const auto failing =
        range_source(bytes.size(), [&](uint64_t offset, size_t size) -> Result<std::string> {
          if (offset <= middle && middle < offset + size) return fail(ErrorCode::io, "no network");
          return bytes.substr(offset, size);
        });
    EXPECT_EQ(verify(*failing).error().message, "no network");
  }
}

TEST(Container, WritersDoNotReplaceWhatIsNoFile) {
  const Scratch scratch;
  const std::string pipe = scratch.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, scratch.path}) {
    EXPECT_EQ(Writer::create(path).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(Writer::append(path).has_value(), false);
  }
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(Container, OneWriterAtATime) {
  const Scratch scratch;
  const std::string path = scratch.file("c");
  auto first = Writer::create(path, {.durable = false});
  ASSERT_TRUE(first->add(1, as_bytes("x")));
  ASSERT_TRUE(first->commit());
  const auto second = Writer::append(path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::unavailable);
  first = Writer::create(scratch.file("other"), {});  // lets go of the first file
  EXPECT_TRUE(Writer::append(path));
}

// Concatenated by hand, since writers refuse repeated ids.
std::string with_repeated_id(std::string_view second) {
  const Scratch scratch;
  write_container(scratch.file("c"), {model_block(7, "first"), model_block(8, std::string(second))},
                  {});
  std::string bytes = bytes_of_file(scratch.file("c"));
  const Reader reader = std::move(*open_bytes(bytes));
  const auto patch = [&](uint64_t offset, Bytes with) {
    std::memcpy(&bytes[offset], with.data(), with.size());
  };
  FrameWalker walker(reader.source());
  Frame block = *walker.at(reader.blocks()[1].offset);
  block.id = 7;
  Frame commit = *walker.at(block.end());
  const uint64_t entry = commit.payload_offset() + kListHeaderSize + kIndexEntrySize;
  std::string encoded;
  encode_index_entry(block, encoded);
  patch(block.offset, encode_frame_header(block));
  patch(entry, as_bytes(encoded));
  commit.payload_checksum =
      checksum(as_bytes(bytes).subspan(commit.payload_offset(), commit.stored_size));
  patch(commit.offset, encode_frame_header(commit));
  return bytes;
}

TEST(Container, TheFirstOfTwoBlocksWithOneIdCounts) {
  for (const bool same : {true, false}) {
    const std::string bytes = with_repeated_id(same ? "first" : "other");
    const auto reader = open_bytes(bytes);
    ASSERT_TRUE(reader);
    EXPECT_EQ(reader->blocks().size(), 2u);
    EXPECT_EQ(reader->find(7), &reader->blocks()[0]);
    const auto report = verify(*memory_source(as_bytes(bytes)));
    ASSERT_TRUE(report);
    EXPECT_EQ(report->ok(), same);
    EXPECT_EQ(report->duplicates, same ? 1u : 0u);
    if (!same) {
      EXPECT_EQ(report->damage[0].kind, DamageKind::duplicate);
    }
  }
}

TEST(Container, RootDigestStandsForContentAlone) {
  std::mt19937_64 random(test_seed());
  const Scratch scratch;
  const Model model = random_model(random, 9, 3000);
  const WriterOptions options{.kind = 5, .metadata = "m", .digests = true};
  WriterOptions planned = options;
  planned.plan = plan_of(model);
  write_container(scratch.file("a"), model, options);
  write_container(scratch.file("b"), model, planned);
  write_container(scratch.file("c"), {model.begin(), model.begin() + 4}, options);
  append_session(scratch.file("c"), {model.begin() + 4, model.end()});
  const auto root_of = [&](const char* name) {
    return Reader::open(scratch.file(name))->index().root;
  };
  EXPECT_EQ(root_of("a"), root_of("b"));
  EXPECT_EQ(root_of("a"), root_of("c"));

  // A forger who mends every checksum is found out.
  std::string bytes = bytes_of_file(scratch.file("a"));
  const ReaderOptions trusting{.root = root_of("a")};
  ASSERT_TRUE(open_bytes(bytes, trusting));
  Model forged = model;
  forged[3].info.kind ^= 1;
  write_container(scratch.file("f"), forged, options);
  EXPECT_EQ(Reader::open(scratch.file("f"), trusting).error().code, ErrorCode::corrupt);
  write_container(scratch.file("f"), model, {.kind = 5, .metadata = "m"});
  EXPECT_EQ(Reader::open(scratch.file("f"), trusting).error().code, ErrorCode::corrupt);
  write_container(scratch.file("f"), model, {.kind = 5, .metadata = "n", .digests = true});
  EXPECT_EQ(Reader::open(scratch.file("f"), trusting).error().code, ErrorCode::corrupt);
}

TEST(Container, AForgedBlockFailsItsDigest) {
  const Scratch scratch;
  write_container(scratch.file("a"), {model_block(1, "right")}, {.digests = true});
  std::string bytes = bytes_of_file(scratch.file("a"));
  const Blake3Digest root = open_bytes(bytes)->index().root;
  const Block block = open_bytes(bytes)->blocks()[0];
  Frame frame;
  static_cast<Block&>(frame) = block;
  frame.payload_checksum = checksum(as_bytes("wrong"));
  const auto header = encode_frame_header(frame);
  std::memcpy(&bytes[block.offset], header.data(), header.size());
  std::memcpy(&bytes[block.payload_offset()], "wrong", 5);
  EXPECT_TRUE(open_bytes(bytes)->read(block));
  const auto reader = open_bytes(bytes, {.root = root});
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->read(block).error().code, ErrorCode::corrupt);
  const auto report = verify(*memory_source(as_bytes(bytes)), {.root = root});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->damage[0].kind, DamageKind::digest);
}

TEST(Container, AContainerInsideABlockIsOpaque) {
  const Scratch scratch;
  write_container(scratch.file("in"), {model_block(1, "x"), model_block(2, "y")}, {});
  const std::string inner = bytes_of_file(scratch.file("in"));
  const Model model = {model_block(9, inner), model_block(10, "z")};
  write_container(scratch.file("out"), model, {});
  std::string outer = bytes_of_file(scratch.file("out"));
  outer[Reader::open(scratch.file("out"))->blocks()[0].offset] ^= 1;
  const auto report = verify(*memory_source(as_bytes(outer)));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->blocks, 1u);
  EXPECT_FALSE(report->ok());
}

TEST(Container, SourcesReportWhatTheyCannotRead) {
  const Scratch scratch;
  EXPECT_EQ(open_file_source(scratch.path).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(open_file_source("/dev/null").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(open_file_source(scratch.file("none")).error().code, ErrorCode::not_found);
  write_bytes(scratch.file("empty"), "");
  EXPECT_EQ(Reader::open(scratch.file("empty")).error().code, ErrorCode::corrupt);
  EXPECT_EQ(Reader::open(std::move(*map_file_source(scratch.file("empty")))).error().code,
            ErrorCode::corrupt);

  write_container(scratch.file("c"), {model_block(1, std::string(100000, 'x'))}, {});
  auto reader = Reader::open(scratch.file("c"));
  std::filesystem::resize_file(scratch.file("c"), 5000);
  EXPECT_EQ(reader->read(reader->blocks()[0]).error().code, ErrorCode::corrupt);

  const auto failing = range_source(1000, [](uint64_t, size_t) -> Result<std::string> {
    return fail(ErrorCode::io, "no network");
  });
  EXPECT_EQ(failing->read(0, MutableBytes()).has_value(), true);
  std::array<std::byte, 4> four;
  EXPECT_EQ(failing->read(0, MutableBytes(four)).error().message, "no network");
  const auto lying =
      range_source(1000, [](uint64_t, size_t) { return Result<std::string>("short"); });
  EXPECT_EQ(lying->read(0, MutableBytes(four)).error().code, ErrorCode::io);
}

}  // namespace
}  // namespace hoist::container
