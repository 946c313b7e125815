// Arbitrary bytes as a body of Arrow's record batches: schema, dictionaries, batches, compressed or
// not, and the patterns in them. What is found must not depend on how the bytes are cut, and what
// was found must come back when it is written again.
//
// Input: a byte that says where the stream is cut, then the stream.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "service/node/pattern_batches.h"
#include "service/node/pattern_lines.h"

namespace {

using namespace hoist;
using namespace hoist::service;

constexpr size_t kMostRecords = 1000;  // few bytes may be many empty rows

void require(bool condition) {
  if (!condition) std::abort();
}

struct Found {
  std::vector<PatternRecord> records;
  std::string error;
};

Found read(std::string_view stream, size_t step) {
  Found found;
  auto reader = PatternBatchReader::open([&](std::span<char> into) -> Result<size_t> {
    const size_t count = std::min({into.size(), stream.size(), step});
    std::memcpy(into.data(), stream.data(), count);
    stream.remove_prefix(count);
    return count;
  });
  if (!reader) {
    found.error = reader.error().message;
    return found;
  }
  while (found.records.size() < kMostRecords) {
    auto record = reader->next();
    if (!record) found.error = record.error().message;
    if (!record || !*record) break;
    found.records.push_back(**std::move(record));
  }
  return found;
}

struct Visited {
  match::VisitedPattern pattern;
  std::string metadata;
};

Visited visited(const PatternRecord& record) {
  Visited made;
  made.pattern.name = record.name;
  for (const Event& event : record.events) {
    made.pattern.events.emplace_back(event.begin(), event.end());
  }
  made.pattern.frequency = record.frequency;
  made.pattern.emotives = std::make_shared<const match::EmotiveList>(record.emotives);
  if (!record.metadata.empty()) made.metadata = nlohmann::json(record.metadata).dump();
  return made;
}

std::string lines(const std::vector<PatternRecord>& records) {
  std::string all;
  for (const PatternRecord& record : records) {
    const Visited made = visited(record);
    all += pattern_line(made.pattern, made.metadata) + '\n';
  }
  return all;
}

std::string written(const std::vector<PatternRecord>& records) {
  std::string bytes;
  PatternBatchWriter writer(false, [&](std::string_view more) -> Status {
    bytes += more;
    return {};
  });
  require(writer.begin().has_value());
  for (const PatternRecord& record : records) {
    const Visited made = visited(record);
    require(writer.add(made.pattern, made.metadata).has_value());
  }
  require(writer.end().has_value());
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Found whole = read(stream, SIZE_MAX);
  const Found cut = read(stream, size_t{1} + data[0]);
  require(whole.error == cut.error && lines(whole.records) == lines(cut.records));
  const Found again = read(written(whole.records), SIZE_MAX);
  require(again.error.empty() && lines(again.records) == lines(whole.records));
  return 0;
}
