#include "ops/sort/emit.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "ops/sort/write_queue.h"

namespace hoist::sort {
namespace {

constexpr size_t kPartEntries = 4096;
constexpr uint64_t kGatherBytes = uint64_t{1} << 18;
// What is written at once: large enough for the kernel's own steps, small enough for a core's
// cache.
constexpr uint64_t kLeastBlock = uint64_t{1} << 16;
constexpr uint64_t kMostBlock = uint64_t{1} << 20;
constexpr uint64_t kAllBlocks = uint64_t{1} << 25;  // bytes, and a quarter of the output
constexpr uint64_t kBlocksPerThread = 2;
constexpr uint64_t kTurnsPerThread = 4;                // so that threads end at about the same time
constexpr uint64_t kWorthSharing = uint64_t{1} << 20;  // less is written as fast in order
constexpr size_t kFetchAhead = 24;
constexpr uint64_t kFetchBytes = 256;  // of a line that is asked for ahead
constexpr uint64_t kCacheLine = 64;

struct Part {
  std::span<const Entry> entries;
  uint64_t bytes = 0;
  uint64_t position = 0;  // of its first byte in the output
};

class Emitter {
 public:
  Emitter(const char* text, char terminator, Output& output, ThreadPool& pool)
      : text_(text), terminator_(terminator), output_(output), pool_(pool) {}

  bool run(std::span<const Entry> entries) {
    uint64_t total = plan(entries, kPartEntries);
    // Fewer of long lines, that a part is not much more than what is written at once.
    const uint64_t average = total / std::max<uint64_t>(entries.size(), 1);
    if (average * kPartEntries > 2 * kMostBlock) {
      total = plan(entries, std::max<uint64_t>(kMostBlock / average, 1));
    }
    shared_ = shared_ || total >= kWorthSharing;
    return total >= kWorthSharing && output_.reserve(total) ? write_parts(total) : append_parts();
  }

 private:
  // Calls body(i) for every i below `count`, on all threads where they are worth starting.
  template <typename Body>
  void for_each(size_t count, const Body& body) {
    if (shared_) return pool_.parallel_for(count, body);
    for (size_t i = 0; i < count; ++i) body(i);
  }

  // Parts of so many entries. Returns the bytes of all.
  uint64_t plan(std::span<const Entry> entries, size_t part_entries) {
    shared_ = entries.size() >= kWorthThreads;
    parts_.assign((entries.size() + part_entries - 1) / part_entries, {});
    for_each(parts_.size(), [&](size_t p) {
      const size_t begin = p * part_entries;
      parts_[p].entries = entries.subspan(begin, std::min(part_entries, entries.size() - begin));
      for (const Entry& entry : parts_[p].entries) {
        if (!LineRef::dropped(entry.lo)) parts_[p].bytes += line(entry).length + 1;
      }
    });
    uint64_t position = 0;
    for (Part& part : parts_) {
      part.position = position;
      position += part.bytes;
    }
    return position;
  }

  // All threads gather parts, about a block's worth at a time, for their places.
  bool write_parts(uint64_t total) {
    const uint64_t most_blocks = kBlocksPerThread * static_cast<uint64_t>(pool_.size());
    const uint64_t most_bytes = std::min(kMostBlock, kAllBlocks / most_blocks);
    const uint64_t turn = total / (kTurnsPerThread * static_cast<uint64_t>(pool_.size()));
    const uint64_t block = std::clamp(turn, kLeastBlock, std::max(most_bytes, kLeastBlock));
    WriteQueue queue(output_, block, std::clamp<uint64_t>(total / 4 / block, 1, most_blocks));
    const std::vector<size_t> groups = group_parts(block);
    for_each(groups.size() - 1, [&](size_t g) {
      gather_into(queue, std::span(parts_).subspan(groups[g], groups[g + 1] - groups[g]));
    });
    return output_.failed_at() == UINT64_MAX;
  }

  // Where groups of parts begin, of one part or of at most `bytes` bytes; and the end.
  std::vector<size_t> group_parts(uint64_t bytes) const {
    std::vector<size_t> bounds;
    uint64_t room = 0;
    for (size_t p = 0; p < parts_.size(); ++p) {
      if (bounds.empty() || parts_[p].bytes > room) {
        bounds.push_back(p);
        room = std::max(bytes, parts_[p].bytes);
      }
      room -= parts_[p].bytes;
    }
    bounds.push_back(parts_.size());
    return bounds;
  }

  // Puts the lines of adjacent parts into the queue, as far as they still count: where writing has
  // failed, all below is written all the same. (Groups are begun in order.)
  void gather_into(WriteQueue& queue, std::span<const Part> parts) {
    if (parts.front().position >= output_.failed_at()) return;
    WriteQueue::Block block = queue.take(parts.front().position);
    bool counts = true;
    const auto put_and_go_on = [&] {
      if (block.size == 0) return;
      const uint64_t next = block.position + block.size;
      queue.put(std::move(block));
      counts = next < output_.failed_at();
      block = queue.take(next);
    };
    for (const Part& part : parts) {
      for_each_line(part, [&](Line line) {
        const uint64_t size = line.length + 1;
        if (size > queue.block_size() - block.size) put_and_go_on();
        if (size > queue.block_size()) {
          counts = counts && output_.write_at(block.position, line.text, size);
          block.position += size;
        } else {
          std::memcpy(block.data.get() + block.size, line.text, size);
          block.size += size;
        }
        return counts;
      });
      if (!counts) break;
    }
    queue.put(std::move(block));
  }

  // Threads gather some parts, one appends them in order.
  bool append_parts() {
    const size_t group = static_cast<size_t>(pool_.size()) * 2;
    std::vector<std::vector<char>> buffers(group);
    for (size_t first = 0; first < parts_.size(); first += group) {
      const size_t count = std::min(group, parts_.size() - first);
      for_each(count, [&](size_t i) { gather(parts_[first + i], buffers[i]); });
      for (size_t i = 0; i < count; ++i) {
        if (!append_part(parts_[first + i], buffers[i])) return false;
      }
    }
    return true;
  }

  // Parts of very long lines are not copied but appended from where the lines are.
  static bool is_bulky(const Part& part) { return part.bytes > 4 * kGatherBytes; }

  void gather(const Part& part, std::vector<char>& buffer) {
    buffer.clear();
    if (is_bulky(part)) return;
    buffer.resize(part.bytes);
    char* at = buffer.data();
    for_each_line(part, [&](Line line) {
      std::memcpy(at, line.text, line.length + 1);
      at += line.length + 1;
      return true;
    });
  }

  bool append_part(const Part& part, const std::vector<char>& buffer) {
    if (!is_bulky(part)) return output_.append(buffer.data(), buffer.size());
    bool good = true;
    for_each_line(part, [&](Line line) {
      good = output_.append(line.text, line.length + 1);
      return good;
    });
    return good;
  }

  // Calls visit(line) until it returns false; asks for the memory of lines to come.
  template <typename Visit>
  void for_each_line(const Part& part, const Visit& visit) {
    for (size_t i = 0; i < part.entries.size(); ++i) {
      if (i + kFetchAhead < part.entries.size()) fetch(part.entries[i + kFetchAhead]);
      if (LineRef::dropped(part.entries[i].lo)) continue;
      if (!visit(line(part.entries[i]))) return;
    }
  }

  void fetch(const Entry& entry) {
    const char* const start = text_ + LineRef::offset(entry.lo);
    const uint64_t length = std::min(entry.lo & LineRef::kLong, kFetchBytes);
    for (uint64_t at = 0; at <= length; at += kCacheLine) __builtin_prefetch(start + at);
  }

  Line line(const Entry& entry) const { return LineRef::line(entry.lo, text_, terminator_); }

  const char* text_;
  char terminator_;
  Output& output_;
  ThreadPool& pool_;
  std::vector<Part> parts_;
  bool shared_ = false;  // by all threads
};

}  // namespace

bool emit(std::span<const Entry> entries, const char* text, char terminator, Output& output,
          ThreadPool& pool) {
  return Emitter(text, terminator, output, pool).run(entries);
}

}  // namespace hoist::sort
