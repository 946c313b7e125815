// Fuzzes .holo files: the metadata by itself, and whole files whose checksums are mended where the
// first byte is odd. What opens must decode within its bounds or say why not; what verifies must
// open; what repair writes must verify; ranges of tensors are those of the whole.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "container/mend_testing.h"
#include "tensors/file/reader.h"
#include "tensors/file/repair.h"

using namespace hoist::tensors;
namespace container = hoist::container;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_metadata(container::Bytes bytes) {
  const auto header = decode_header(bytes, "fuzz");
  if (!header) return;
  // What was understood is written and understood the same way.
  const std::string again = encode_header(*header);
  const auto second = decode_header(container::as_bytes(again), "fuzz");
  require(second && encode_header(*second) == again);
  const auto layout = Layout::of(*header, 100'000);
  if (!layout) return;
  for (const ShardPlace& shard : layout->shards()) require(shard.group < layout->groups().size());
}

void check_repair(const container::Source& source, bool repairable) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("hoist-tensor-fuzz-" + std::to_string(::getpid()));
  const auto repaired = repair_holotensor(source, path, {}, false);
  if (!repaired) return;
  require(repairable);
  const auto verified = verify_holotensor(**container::open_file_source(path));
  require(verified && verified->ok());
  std::filesystem::remove(path);
}

// What lies within a tensor that decodes is the same by itself.
void check_range(const HoloTensorReader& reader, size_t tensor) {
  const auto whole = reader.decode(tensor);
  const uint64_t bytes = reader.header().tensors[tensor].bytes();
  if (bytes > 1 << 20) return;
  const uint64_t begin = bytes / 3;
  std::vector<std::byte> part(bytes / 2);
  const hoist::Status done = reader.decode_range(tensor, begin, part);
  if (!whole) return;
  require(done.has_value());
  require(std::equal(part.begin(), part.end(), whole->bytes.data() + begin));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_metadata(container::as_bytes(bytes));
  if (data[0] % 2 == 1) container::mend_checksums(bytes);
  const auto source = container::memory_source(container::as_bytes(bytes));
  const auto verified = verify_holotensor(*source);
  auto reader = HoloTensorReader::open(container::memory_source(container::as_bytes(bytes)),
                                       {.tensor = 1 << 20});
  if (verified && verified->ok()) require(reader.has_value());
  if (verified && !verified->ok() && data[0] % 16 < 2) check_repair(*source, verified->repairable);
  if (!reader) return 0;
  for (size_t i = 0; i < reader->header().tensors.size(); ++i) {
    const auto loaded = reader->decode(i, {}, {.skip_corrupted = true});
    if (loaded) require(loaded->bytes.size() == reader->header().tensors[i].bytes());
    check_range(*reader, i);
  }
  for (size_t i = 0; i < reader->header().files.size(); ++i) {
    const auto skeleton = reader->skeleton(i);
    if (skeleton) require(skeleton->size() == reader->header().files[i].skeleton_bytes);
  }
  return 0;
}
