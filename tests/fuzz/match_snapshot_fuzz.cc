// Snapshots whose checksums are right and whose content is not: blocks of a good one are changed as
// the input says, and the container is written again.
//
// Input: triples of a block's number, a place in it (two bytes) and a value to xor there.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "container/reader.h"
#include "container/writer.h"
#include "match/index/index.h"
#include "match/index/snapshot.h"

namespace {

using namespace hoist;

struct Stored {
  container::BlockInfo info;
  std::vector<std::byte> bytes;
};

[[noreturn]] void give_up() {
  std::perror("match_snapshot_fuzz");
  std::abort();
}

std::vector<Stored> good_blocks(uint32_t& kind) {
  char folder[] = "/tmp/hoist-fuzz-XXXXXX";
  if (::mkdtemp(folder) == nullptr) give_up();
  const std::string path = std::string(folder) + "/index";
  {
    auto index = match::Index::open(path, {.create = true, .search_only = true});
    if (!index || !(*index)->begin_bulk()) give_up();
    for (int i = 0; i < 40; ++i) {
      const std::string n = std::to_string(i);
      const std::string name = i % 3 == 0 ? "own" + n : "";
      if (!(*index)->learn({{"a", n}, {"b"}}, {.name = name, .emotives = {{"joy", 1.0}}}))
        give_up();
    }
    if (!(*index)->end_bulk()) give_up();
  }
  const auto reader = container::Reader::open(path + "/snapshot.hoist");
  if (!reader) give_up();
  kind = reader->header().kind;
  std::vector<Stored> blocks;
  for (const container::Block& block : reader->blocks()) {
    const auto bytes = reader->read(block);
    if (!bytes) give_up();
    blocks.push_back({block, {bytes->data(), bytes->data() + bytes->size()}});
  }
  std::filesystem::remove_all(folder);
  return blocks;
}

std::vector<std::byte> write(const std::vector<Stored>& blocks, uint32_t kind) {
  const int fd = ::memfd_create("snapshot", MFD_CLOEXEC);
  auto writer = container::Writer::stream(fd, {.kind = kind, .metadata = {}, .plan = {}});
  if (!writer) give_up();
  for (const Stored& block : blocks) {
    if (!writer->add(block.info, block.bytes)) give_up();
  }
  if (!writer->commit()) give_up();
  std::vector<std::byte> bytes(writer->size());
  if (::pread(fd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) give_up();
  ::close(fd);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static uint32_t kind = 0;
  static const std::vector<Stored> good = good_blocks(kind);
  std::vector<Stored> blocks = good;
  for (size_t at = 0; at + 4 <= size; at += 4) {
    std::vector<std::byte>& bytes = blocks[data[at] % blocks.size()].bytes;
    const size_t place = static_cast<size_t>(data[at + 1]) << 8 | data[at + 2];
    if (!bytes.empty()) bytes[place % bytes.size()] ^= std::byte{data[at + 3]};
  }
  const std::vector<std::byte> file = write(blocks, kind);
  match::Vocabulary vocabulary;
  const auto loaded =
      match::load_snapshot(container::memory_source(file), vocabulary, match::LoadOptions());
  if (!loaded) return 0;
  std::vector<uint32_t> symbols;
  for (const auto& segment : loaded->segments) {
    for (uint32_t i = 0; i < segment->size(); ++i) {
      segment->read_symbols(i, symbols);
      size_t sum = 0;
      for (const uint16_t events : segment->event_sizes(i)) sum += events;
      if (sum != symbols.size()) std::abort();
      (void)segment->find(segment->name(i));
    }
    if (!match::build_stable(99, {{segment}, {}}, vocabulary.size(), ThreadPool::process()))
      std::abort();
  }
  return 0;
}
