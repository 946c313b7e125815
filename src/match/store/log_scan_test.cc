#include "match/store/log_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/test_seed.h"
#include "match/store/crc32c.h"

namespace hoist::match {
namespace {

constexpr size_t kBlock = 32 << 10;

// As RocksDB writes them.
std::string log_of(const std::vector<std::string>& records) {
  std::string out;
  for (const std::string& record : records) {
    size_t at = 0;
    do {
      size_t left = kBlock - out.size() % kBlock;
      if (left < 7) {
        out.append(left, '\0');
        left = kBlock;
      }
      const size_t size = std::min(left - 7, record.size() - at);
      const bool is_first = at == 0;
      const bool is_last = at + size == record.size();
      const char type = is_first ? (is_last ? 1 : 2) : (is_last ? 4 : 3);
      const std::string body = type + record.substr(at, size);
      const uint32_t crc = masked(crc32c(body));
      for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(crc >> shift));
      out.push_back(static_cast<char>(size));
      out.push_back(static_cast<char>(size >> 8));
      out += body;
      at += size;
    } while (at < record.size());
  }
  return out;
}

struct Read {
  std::vector<std::string> records;
  LogScan scan;
};

Read read(const std::string& bytes) {
  Read result;
  result.scan = scan_log(
      bytes, [&](uint64_t, std::string_view record) { result.records.emplace_back(record); });
  return result;
}

std::vector<std::string> random_records(std::mt19937_64& random, size_t count) {
  std::vector<std::string> records(count);
  for (size_t i = 0; i < count; ++i) {
    // Some cross one block, some several.
    records[i].resize(random() % (i % 7 == 3 ? 100'000 : 400));
    for (char& c : records[i]) c = static_cast<char>(random());
    records[i] += "#" + std::to_string(i);  // no two are equal
  }
  return records;
}

// RFC 3720, appendix B.4.
TEST(Crc32c, HasTheKnownValues) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c("6789", crc32c("12345")), 0xe3069283u);
}

TEST(LogScan, ReadsWhatWasWritten) {
  std::mt19937_64 random(test_seed());
  for (const size_t count : {0, 1, 2, 300}) {
    const auto records = random_records(random, count);
    const std::string bytes = log_of(records);
    const Read got = read(bytes);
    EXPECT_EQ(got.records, records);
    EXPECT_TRUE(got.scan.damage.empty());
    EXPECT_EQ(got.scan.tail, bytes.size());
  }
}

// Whatever one place loses, its record alone is gone, or two where it is their border.
TEST(LogScan, DamageCostsTheRecordThatItHits) {
  std::mt19937_64 random(test_seed());
  const auto records = random_records(random, 200);
  const std::string bytes = log_of(records);
  for (int i = 0; i < 400; ++i) {
    std::string bad = bytes;
    const size_t at = random() % bad.size();
    bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
    const Read got = read(bad);
    ASSERT_GE(got.records.size() + 1, records.size()) << at;
    size_t next = 0;
    for (const std::string& record : got.records) {
      while (next < records.size() && records[next] != record) ++next;
      ASSERT_LT(next, records.size()) << "made up, or out of order";
    }
    if (got.records.size() == records.size()) continue;  // the end of a block
    ASSERT_TRUE(got.scan.damage.size() == 1 || got.scan.tail < bad.size());
    const LogDamage where =
        got.scan.damage.empty() ? LogDamage{got.scan.tail, bad.size()} : got.scan.damage.front();
    EXPECT_LE(where.offset, at);
    EXPECT_GT(where.end, at);
  }
}

TEST(LogScan, ATornEndIsATail) {
  std::mt19937_64 random(test_seed());
  const auto records = random_records(random, 40);
  const std::string bytes = log_of(records);
  for (size_t size = bytes.size() - 3000; size < bytes.size(); size += 7) {
    for (const char* const behind : {"", "\1\2\3garbage"}) {
      const Read got = read(bytes.substr(0, size) + behind);
      EXPECT_TRUE(got.scan.damage.empty()) << size;
      EXPECT_LT(got.records.size(), records.size());
      EXPECT_TRUE(std::equal(got.records.begin(), got.records.end(), records.begin()));
    }
    EXPECT_EQ(read(bytes.substr(0, size) + std::string(kBlock, '\0')).records.size(),
              read(bytes.substr(0, size)).records.size());
  }
}

}  // namespace
}  // namespace hoist::match
