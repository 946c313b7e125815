// Files that are flipped, cut and stuffed: whatever happens to a file, the blocks whose bytes are
// still whole come back, and nothing else.
#include "records/repair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/test_seed.h"
#include "base/varint.h"
#include "container/container_testing.h"
#include "records/block.h"
#include "records/file_format.h"
#include "records/reader.h"
#include "records/records_testing.h"
#include "records/writer.h"

namespace hoist::records {
namespace {

using container::bytes_of_file;
using container::Scratch;
using container::write_bytes;

struct Piece {
  std::string text;
  std::string bytes;  // of the frame
  uint64_t first;     // row
  uint64_t rows;
};

struct File {
  std::string bytes;
  std::vector<Piece> pieces;

  uint64_t rows() const { return pieces.empty() ? 0 : pieces.back().first + pieces.back().rows; }
};

// Small blocks, a commit behind some of them and at the end.
File make_file(const std::string& path, std::mt19937_64& random, size_t blocks, bool commits) {
  const Dialect dialect{.format = Format::json};
  Result<container::Writer> writer = container::Writer::create(
      path, {.kind = kFileKind, .metadata = encode_dialect(dialect), .durable = false});
  EXPECT_TRUE(writer);
  File file;
  for (size_t i = 0; i < blocks; ++i) {
    Piece piece{.text = {}, .bytes = {}, .first = file.rows(), .rows = 1 + random() % 30};
    for (uint64_t row = 0; row < piece.rows; ++row) {
      piece.text += "{\"row\": " + std::to_string(piece.first + row) +
                    ", \"value\": " + std::to_string(random() % 100000) + "}\n";
    }
    const std::string stored = encode_block(piece.text, dialect, Effort::usual);
    EXPECT_TRUE(writer->add({.id = piece.first,
                             .raw_size = piece.text.size(),
                             .kind = kBlockKind,
                             .codec = kBlockCodec},
                            container::as_bytes(stored)));
    file.pieces.push_back(std::move(piece));
    if (commits && random() % 5 == 0) {
      EXPECT_TRUE(writer->commit());
    }
  }
  EXPECT_TRUE(writer->commit());
  file.bytes = bytes_of_file(path);
  const Result<container::Reader> reader = container::Reader::open(path);
  EXPECT_TRUE(reader);
  for (size_t i = 0; i < blocks; ++i) {
    const container::Block& block = reader->blocks()[i];
    file.pieces[i].bytes = file.bytes.substr(block.offset, block.end() - block.offset);
  }
  return file;
}

std::string text_of(const std::string& path) {
  const RecordReader reader = RecordReader::open(path).value();
  std::string text;
  EXPECT_TRUE(reader.text({}, [&](std::string_view part) {
    text += part;
    return Status();
  }));
  return text;
}

Result<RepairReport> repaired(std::string_view bytes, const std::string& path) {
  return repair(*container::memory_source(bytes_of(bytes)), path,
                {.durable = false, .output = {.replace = Replace::any}});
}

// All that is whole in `damaged` is saved, and no row is another one.
void expect_saved(const File& file, const std::string& damaged, const std::string& path) {
  std::string expected;
  std::vector<std::pair<uint64_t, uint64_t>> lost;
  uint64_t next = 0;
  for (const Piece& piece : file.pieces) {
    if (damaged.find(piece.bytes) == std::string::npos) continue;
    if (piece.first > next) lost.emplace_back(next, piece.first);
    expected += piece.text;
    next = piece.first + piece.rows;
  }
  const Result<RepairReport> report = repaired(damaged, path);
  if (next == 0) {
    EXPECT_FALSE(report);
    return;
  }
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(text_of(path), expected);
  EXPECT_EQ(report->text_bytes, expected.size());
  size_t known = 0;
  for (const LostRows& rows : report->lost) {
    if (!rows.end) {
      EXPECT_EQ(rows.first, next);
      EXPECT_LT(next, file.rows());
      continue;
    }
    ASSERT_LT(known, lost.size());
    EXPECT_EQ(rows.first, lost[known].first);
    EXPECT_EQ(*rows.end, lost[known++].second);
  }
  EXPECT_EQ(known, lost.size());
  // Rows behind the last one are not lost silently, except where the file is what it once was.
  const auto reader = RecordReader::open(container::memory_source(bytes_of(damaged)));
  if (next < file.rows() && (!reader || reader->unfinished_bytes() > 0)) {
    EXPECT_TRUE(report->is_end_unknown || (!report->lost.empty() && !report->lost.back().end))
        << next << " " << file.rows();
  }
  EXPECT_TRUE(!report->is_whole() || lost.empty());
}

TEST(Repair, SavesWhatIsWholeAfterChangesAnywhere) {
  const Scratch scratch;
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 150; ++i) {
    SCOPED_TRACE("round " + std::to_string(i));
    const File file = make_file(scratch.file("x"), random, 1 + random() % 40, i % 2 == 0);
    std::string bytes = file.bytes;
    size_t moved = 0;
    for (uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
      const size_t at = random() % bytes.size();
      // Sizes that differ: what came in and went again as far would be in its place.
      const size_t size = moved += 1 + random() % 700;
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
          break;
        case 1:
          bytes.erase(at, size);
          if (bytes.empty()) bytes = "x";
          break;
        case 2:
          bytes.insert(at, container::random_bytes(random, size));
          break;
        default:
          for (size_t k = at; k < std::min(at + size, bytes.size()); ++k) bytes[k] = 0;
      }
    }
    expect_saved(file, bytes, scratch.file("saved"));
    if (HasFailure()) return;
  }
}

TEST(Repair, SavesAllBlocksInFrontOfACut) {
  const Scratch scratch;
  std::mt19937_64 random(test_seed());
  const File file = make_file(scratch.file("x"), random, 6, true);
  for (size_t size = 1; size < file.bytes.size(); size += 1 + random() % 40) {
    SCOPED_TRACE(size);
    expect_saved(file, file.bytes.substr(0, size), scratch.file("saved"));
    if (HasFailure()) return;
  }
}

TEST(Repair, OfASoundFileIsTheSame) {
  const Scratch scratch;
  std::mt19937_64 random(test_seed());
  const File file = make_file(scratch.file("x"), random, 9, true);
  const Result<RepairReport> report = repaired(file.bytes, scratch.file("saved"));
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->is_whole());
  EXPECT_EQ(report->damage_count, 0u);
  EXPECT_EQ(report->rows, file.rows());
  const File empty = make_file(scratch.file("y"), random, 0, false);
  const Result<RepairReport> nothing = repaired(empty.bytes, scratch.file("saved"));
  ASSERT_TRUE(nothing) << nothing.error().message;
  EXPECT_TRUE(nothing->is_whole());
  EXPECT_EQ(text_of(scratch.file("saved")), "");
}

TEST(Repair, TellsTheTextThatIsLost) {
  const Scratch scratch;
  std::mt19937_64 random(test_seed());
  const File file = make_file(scratch.file("x"), random, 9, false);
  std::string bytes = file.bytes;
  bytes[bytes.find(file.pieces[4].bytes) + file.pieces[4].bytes.size() - 1] ^= 1;
  const Result<RepairReport> report = repaired(bytes, scratch.file("saved"));
  ASSERT_TRUE(report);
  ASSERT_EQ(report->lost.size(), 1u);
  EXPECT_EQ(report->lost[0].text_bytes, std::optional<uint64_t>(file.pieces[4].text.size()));
  EXPECT_FALSE(report->is_end_unknown);
}

// A block whose text is a file of records, stored as it is.
TEST(Repair, TakesNoRowsFromAFileInsideABlock) {
  const Scratch scratch;
  std::mt19937_64 random(test_seed());
  const File inner = make_file(scratch.file("inner"), random, 5, false);
  Result<container::Writer> writer = container::Writer::create(
      scratch.file("outer"), {.kind = kFileKind, .metadata = encode_dialect({}), .durable = false});
  ASSERT_TRUE(writer);
  // Plain bytes, not compressed: docs/reference/hrec.md.
  std::string stored(3, '\0');
  stored[2] = inner.bytes.ends_with('\n') ? 1 : 0;
  write_varint(stored, count_rows(inner.bytes));
  stored += '\0' + inner.bytes;
  ASSERT_TRUE(Block::open(bytes_of(stored), inner.bytes.size())->text());
  ASSERT_TRUE(writer->add(
      {.id = 0, .raw_size = inner.bytes.size(), .kind = kBlockKind, .codec = kBlockCodec},
      container::as_bytes(stored)));
  ASSERT_TRUE(writer->commit());
  std::string bytes = bytes_of_file(scratch.file("outer"));
  for (const size_t at : {size_t{8}, bytes.find(stored) + 5, bytes.find(stored) - 30}) {
    std::string damaged = bytes;
    damaged[at] ^= 1;
    const Result<RepairReport> report = repaired(damaged, scratch.file("saved"));
    EXPECT_TRUE(at == 8 ? report && report->rows == count_rows(inner.bytes) : !report) << at;
  }
}

// The first row of a CSV is lost with its block; the names are in the metadata.
TEST(Repair, KnowsThatTheHeaderIsLost) {
  const Scratch scratch;
  const std::string path = scratch.file("x");
  const auto add = [&](std::string text, bool is_new) {
    Result<RecordWriter> writer = is_new ? RecordWriter::create(path, {.durable = false})
                                         : RecordWriter::append(path, {.durable = false});
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->write_all([&text](std::span<char> into) -> Result<size_t> {
      const size_t size = text.copy(into.data(), into.size());
      text.erase(0, size);
      return size;
    }));
    ASSERT_TRUE(writer->finish());
  };
  add("time,price\n1,2.5\n2,2.5\n", true);
  add("3,4.5\n", false);
  std::string bytes = bytes_of_file(path);
  const Result<container::Reader> reader = container::Reader::open(path);
  bytes[reader->blocks()[0].payload_offset()] ^= 1;
  ASSERT_TRUE(repaired(bytes, scratch.file("saved")));
  EXPECT_EQ(text_of(scratch.file("saved")), "3,4.5\n");
  const Result<RecordReader> saved = RecordReader::open(scratch.file("saved"));
  EXPECT_TRUE(saved->dialect().header_lost);
  EXPECT_EQ(saved->dialect().names.size(), 2u);
}

TEST(Repair, GivesUpALineWhoseRestIsLost) {
  const Scratch scratch;
  const Dialect plain;
  Result<container::Writer> writer = container::Writer::create(
      scratch.file("x"), {.kind = kFileKind, .metadata = encode_dialect(plain), .durable = false});
  ASSERT_TRUE(writer);
  const std::vector<std::string> texts = {"one\n", "begin of ", "a line\n", "last\n"};
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string stored = encode_block(texts[i], plain, Effort::usual);
    ASSERT_TRUE(writer->add(
        {.id = i, .raw_size = texts[i].size(), .kind = kBlockKind, .codec = kBlockCodec},
        container::as_bytes(stored)));
  }
  ASSERT_TRUE(writer->commit());
  std::string bytes = bytes_of_file(scratch.file("x"));
  ASSERT_TRUE(repaired(bytes, scratch.file("saved")));
  EXPECT_EQ(text_of(scratch.file("saved")), "one\nbegin of a line\nlast\n");
  bytes[container::Reader::open(scratch.file("x"))->blocks()[2].payload_offset()] ^= 1;
  const Result<RepairReport> report = repaired(bytes, scratch.file("saved"));
  ASSERT_TRUE(report);
  EXPECT_EQ(text_of(scratch.file("saved")), "one\nlast\n");
  ASSERT_EQ(report->lost.size(), 1u);
  EXPECT_EQ(report->lost[0].first, 1u);
  EXPECT_EQ(report->lost[0].end, std::optional<uint64_t>(3));
}

TEST(Repair, RefusesWhatHoldsNoRecords) {
  const Scratch scratch;
  EXPECT_FALSE(repaired("", scratch.file("saved")));
  EXPECT_FALSE(repaired("text\n", scratch.file("saved")));
  container::write_container(scratch.file("tensors"), {container::model_block(1, "bytes")},
                             {.kind = container::four_letters("TENS")});
  EXPECT_FALSE(repaired(bytes_of_file(scratch.file("tensors")), scratch.file("saved")));
  std::mt19937_64 random(test_seed());
  const File file = make_file(scratch.file("x"), random, 3, false);
  write_bytes(scratch.file("saved"), "precious");
  EXPECT_FALSE(repair(*container::memory_source(bytes_of(file.bytes)), scratch.file("saved"),
                      {.durable = false}));
  EXPECT_EQ(bytes_of_file(scratch.file("saved")), "precious");
}

}  // namespace
}  // namespace hoist::records
