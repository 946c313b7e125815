// Columns on a device against the texts that the CPU's reader gives, on every device.
#include "records/gpu/column_loader.h"

#include <gtest/gtest.h>

#include <set>

#include "base/test_seed.h"
#include "device/test_devices.h"
#include "records/detect.h"
#include "records/gpu/column_loader_expectations.h"
#include "records/gpu/column_loader_testing.h"

namespace hoist::records {
namespace {

constexpr DeviceType kTypes[] = {DeviceType::int64,   DeviceType::float64,   DeviceType::float32,
                                 DeviceType::decimal, DeviceType::timestamp, DeviceType::codes};

class ColumnLoaderTest : public device::OnDevices {
 protected:
  void write(std::string_view text, std::optional<Format> format = std::nullopt) {
    write_records(path_, text, format);
    reader_.emplace(RecordReader::open(path_).value());
  }

  std::set<std::string> paths() const {
    std::set<std::string> paths;
    for (size_t b = 0; b < reader_->blocks().size(); ++b) {
      const LoadedBlock block = reader_->load(b).value();
      for (const BlockColumn& column : block.block().columns()) {
        if (column.kind != ColumnKind::length) paths.insert(column.path);
      }
    }
    return paths;
  }

  std::vector<BlockRows> rows_of(uint64_t first, uint64_t end) const {
    std::vector<BlockRows> blocks;
    for (size_t b = 0; b < reader_->blocks().size(); ++b) {
      const uint64_t id = reader_->blocks()[b].id;
      const uint64_t next =
          b + 1 < reader_->blocks().size() ? reader_->blocks()[b + 1].id : reader_->rows();
      const uint64_t from = std::max(first, id);
      const uint64_t to = std::min(end, next);
      if (from >= to) continue;
      blocks.push_back({b, static_cast<uint32_t>(from - id), static_cast<uint32_t>(to - id)});
    }
    return blocks;
  }

  // Every column in every type.
  void expect_all(uint64_t first, uint64_t end) {
    ColumnLoader loader(device());
    for (const std::string& path : paths()) {
      auto texts = texts_of_column(*reader_, path);
      texts.resize(std::min<uint64_t>(end, texts.size()));
      texts.erase(texts.begin(), texts.begin() + static_cast<ptrdiff_t>(first));
      LoadRequest request;
      for (const DeviceType type : kTypes) {
        if (type == DeviceType::int64 && may_be_digits(texts)) continue;
        const uint8_t digits = type == DeviceType::timestamp ? 3 : 6;
        request.columns.push_back({path, type, digits, true});
      }
      request.blocks = rows_of(first, end);
      PlainMeaning meaning(request.columns);
      const Result<DeviceColumns> columns = loader.load(*reader_, request, meaning);
      ASSERT_TRUE(columns) << columns.error().message;
      for (size_t c = 0; c < request.columns.size(); ++c) {
        expect_column(*columns, c, request.columns[c], texts, meaning);
        if (HasFatalFailure()) return;
      }
    }
  }

  // How many blocks of a column the CPU decoded.
  uint64_t on_cpu(const std::string& path, DeviceType type, uint8_t digits = 0) {
    ColumnLoader loader(device());
    LoadRequest request;
    request.columns = {{path, type, digits, false}};
    request.blocks = rows_of(0, reader_->rows());
    PlainMeaning meaning(request.columns);
    return loader.load(*reader_, request, meaning).value().columns[0].on_cpu;
  }

  std::mt19937_64 random_{test_seed()};
  container::Scratch scratch_;
  std::string path_ = scratch_.file("x.hrec");
  std::optional<RecordReader> reader_;
};

TEST_P(ColumnLoaderTest, GivesAllKindsInAllTypes) {
  for (const size_t rows : {1, 2, 31, 255, 256, 257, 2049, 9000}) {
    for (const unsigned missing : {0u, 10u}) {
      SCOPED_TRACE(std::to_string(rows) + " rows");
      write(random_table(random_, rows, missing));
      expect_all(0, rows);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(ColumnLoaderTest, GivesNumbersThatFollowTheirGroup) {
  for (const size_t symbols : {1, 2, 10, 33, 700}) {
    SCOPED_TRACE(std::to_string(symbols) + " symbols");
    write(grouped_candles(random_, 8000, symbols));
    expect_all(0, 8000);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ColumnLoaderTest, GivesNumbersThatFollowFromOthers) {
  for (const size_t rows : {300, 2100, 9000}) {
    SCOPED_TRACE(std::to_string(rows) + " rows");
    write(related_columns(random_, rows));
    expect_all(0, reader_->rows());
    if (HasFatalFailure()) return;
  }
}

TEST_P(ColumnLoaderTest, SaysWhatTheCpuDecoded) {
  std::mt19937_64 fixed(1);
  write(grouped_candles(fixed, 8000, 10));
  EXPECT_EQ(on_cpu("/close", DeviceType::float64), 0u);
  EXPECT_EQ(on_cpu("/symbol", DeviceType::codes), 0u);
  EXPECT_EQ(on_cpu("/close", DeviceType::codes), 1u);
}

TEST_P(ColumnLoaderTest, GivesRowsOfManyBlocks) {
  write(grouped_candles(random_, 150000, 3));
  ASSERT_GT(reader_->blocks().size(), 2u);
  expect_all(0, 150000);
  if (HasFatalFailure()) return;
  expect_all(65530, 131090);
}

TEST_P(ColumnLoaderTest, GivesGeneratedTexts) {
  for (int i = 0; i < 12; ++i) {
    const std::string text = random_records(random_, 1 + random_() % 600);
    SCOPED_TRACE(text.substr(0, 300));
    write(text);
    expect_all(0, reader_->rows());
    if (HasFatalFailure()) return;
  }
}

TEST_P(ColumnLoaderTest, GivesHostileTexts) {
  for (const std::string& text : hostile_texts()) {
    SCOPED_TRACE(text.substr(0, 100));
    write(text);
    expect_all(0, reader_->rows());
    if (HasFatalFailure()) return;
  }
}

TEST_P(ColumnLoaderTest, ChoosesTheRowsThatTheReaderChooses) {
  const std::pair<std::string, std::string> kFiles[] = {
      {random_table(random_, 5000, 5), "c1"}, {grouped_candles(random_, 140000, 7), "close"}};
  const std::vector<std::vector<std::string>> kWheres[] = {
      {{"c3>=117391.31"},
       {"c14<0"},
       {"c14!=7"},
       {"c14=null"},
       {"c7>=80000000"},
       {"c9>9"},
       {"c10>=2024-06"},
       {"c11=BTC-USD"},
       {"c11!=BTC-USD", "c3<117500", "c6<=50"},
       {"c15<5"},
       {"c13=user-7"},
       {"nothing=1"},
       {"c0=same"}},
      {{"close<500000"}, {"symbol=S3", "close>=1000"}, {"ts>=1755400000", "ts<1755500000"}}};
  for (size_t f = 0; f < 2; ++f) {
    write(kFiles[f].first);
    const std::string path = "/" + kFiles[f].second;
    const auto all = texts_of_column(*reader_, path);
    for (const std::vector<std::string>& where : kWheres[f]) {
      SCOPED_TRACE(where[0]);
      LoadRequest request;
      request.columns = {{path, DeviceType::float64, 0, true}, {path, DeviceType::codes, 0, true}};
      request.blocks = rows_of(3, reader_->rows());
      for (const std::string& text : where) {
        request.where.push_back(parse_condition(text).value());
      }
      std::vector<std::optional<std::string>> texts;
      for (size_t b = 0; b < reader_->blocks().size(); ++b) {
        const LoadedBlock block = reader_->load(b).value();
        std::vector<bool> keep(block.block().rows(), true);
        for (const Condition& condition : request.where) {
          ASSERT_TRUE(apply(condition, block.block(), keep));
        }
        for (size_t row = 0; row < keep.size(); ++row) {
          const uint64_t number = reader_->blocks()[b].id + row;
          if (keep[row] && number >= 3) texts.push_back(all[number]);
        }
      }
      PlainMeaning meaning(request.columns);
      ColumnLoader loader(device());
      const Result<DeviceColumns> columns = loader.load(*reader_, request, meaning);
      ASSERT_TRUE(columns) << columns.error().message;
      for (size_t c = 0; c < 2; ++c) {
        expect_column(*columns, c, request.columns[c], texts, meaning);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Blocks whose bytes were changed before their checksums were made: an error, or values, and no
// access outside (which sanitizers see).
TEST_P(ColumnLoaderTest, SurvivesDamage) {
  const std::string texts[] = {random_table(random_, 700, 3), grouped_candles(random_, 3000, 5)};
  for (int i = 0; i < 150; ++i) {
    const std::string& text = texts[i % 2];
    const Dialect dialect = detect(text);
    std::string stored = encode_block(text, dialect, {});
    for (uint64_t n = 1 + random_() % 3; n > 0; --n) {
      stored[random_() % stored.size()] ^= static_cast<char>(1 << random_() % 8);
    }
    const container::WriterOptions options{.kind = kFileKind,
                                           .metadata = encode_dialect(dialect),
                                           .durable = false,
                                           .output = {.replace = Replace::any}};
    auto writer = container::Writer::create(path_, options).value();
    const container::BlockInfo info{.id = 0,
                                    .raw_size = text.size(),
                                    .stored_size = stored.size(),
                                    .kind = kBlockKind,
                                    .codec = kBlockCodec};
    ASSERT_TRUE(writer.add(info, container::as_bytes(stored)) && writer.commit());
    Result<RecordReader> reader = RecordReader::open(path_);
    if (!reader) continue;
    reader_.emplace(std::move(*reader));
    const bool is_good = reader_->load(0).value().block().text().has_value();
    LoadRequest request;
    for (const char* path : {"/c2", "/c3", "/c4", "/c10", "/c14", "/open", "/close", "/n"}) {
      request.columns.push_back({path, DeviceType::float64, 0, true});
    }
    for (const char* path : {"/c11", "/c12", "/c13", "/symbol"}) {
      request.columns.push_back({path, DeviceType::codes, 0, true});
    }
    request.blocks = rows_of(0, reader_->rows());
    PlainMeaning meaning(request.columns);
    ColumnLoader loader(device());
    const Result<DeviceColumns> columns = loader.load(*reader_, request, meaning);
    if (is_good) {
      EXPECT_TRUE(columns) << columns.error().message;
    } else if (!columns) {
      EXPECT_TRUE(columns.error().code == ErrorCode::corrupt ||
                  columns.error().code == ErrorCode::unsupported)
          << columns.error().message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, ColumnLoaderTest, device::kTestDevices, device::device_name);

}  // namespace
}  // namespace hoist::records
