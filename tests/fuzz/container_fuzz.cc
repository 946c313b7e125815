// Fuzzes everything that reads containers: the bytes as they are or, where the first byte is odd,
// with all checksums mended, so that the rules behind them are met. What the readers of several
// kinds of sources give must agree, and what repair makes must be in order.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "container/mend_testing.h"
#include "container/reader.h"
#include "container/repair.h"
#include "container/verify.h"

using namespace hoist::container;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

// Reads every block; gives how many could be read.
size_t read_all(const Reader& reader, uint64_t size) {
  size_t readable = 0;
  for (const Block& block : reader.blocks()) {
    require(block.end() <= size);
    const Block* first = reader.find(block.id);
    require(first != nullptr && first->id == block.id && first <= &block);
    const auto bytes = reader.read(block);
    const auto view = reader.view(block);
    if (reader.source().data() != nullptr) require(bytes.has_value() == view.has_value());
    if (!bytes) continue;
    require(bytes->size() == block.stored_size);
    ++readable;
  }
  return readable;
}

void check_repair(const Source& source, const VerifyReport& verified) {
  const std::string path = std::filesystem::temp_directory_path() /
                           ("hoist-container-fuzz-" + std::to_string(::getpid()));
  const auto report = repair(source, path, {.durable = false});
  if (report) {
    require(report->blocks + report->duplicates == verified.blocks);
    const auto repaired = verify(**open_file_source(path));
    require(repaired && repaired->ok() && repaired->blocks == report->blocks);
    std::filesystem::remove(path);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 1) mend_checksums(bytes);
  const Limits limits{.metadata = 1 << 20, .index = 1 << 20, .block = 1 << 20};
  const auto in_memory = Reader::open(memory_source(as_bytes(bytes)), {.limits = limits});
  const auto fetch = [&](uint64_t offset, size_t length) {
    return hoist::Result<std::string>(bytes.substr(offset, length));
  };
  const auto fetched = Reader::open(range_source(bytes.size(), fetch), {.limits = limits});
  require(in_memory.has_value() == fetched.has_value());
  size_t readable = 0;
  if (in_memory) {
    require(in_memory->state() == fetched->state());
    readable = read_all(*in_memory, bytes.size());
    require(readable == read_all(*fetched, bytes.size()));
  }
  const auto source = memory_source(as_bytes(bytes));
  const auto verified = verify(*source, {.limits = limits});
  if (!verified) {
    require(verified.error().code == hoist::ErrorCode::unsupported);
    require(!in_memory && in_memory.error().code == hoist::ErrorCode::unsupported);
    return 0;
  }
  if (verified->ok()) {
    require(in_memory && in_memory->state() == IndexState::committed);
    require(readable == verified->blocks);
  }
  // A file system's work: now and then is enough.
  if (data[0] % 16 < 2) check_repair(*source, *verified);
  return 0;
}
