// An entry is the top bits of a key's word, relative to the smallest, above the element's index.
// Entries that agree in them form a run, which is sorted by the word's other bits, by the key's
// next word, and by the next key, in that order: multikey radix sort, most significant word first.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "ops/qsort/chunks.h"
#include "ops/qsort/radix.h"
#include "ops/qsort/sorter.h"

namespace hoist::qsort {
namespace {

constexpr size_t kAhead = 16;  // elements that are asked for early

constexpr size_t kSmallRun = 48;  // shorter ones are sorted without radix passes

struct Place {  // in the sequence of words that an order consists of
  size_t key = 0;
  size_t depth = 0;
};

class RecordSorter {
 public:
  RecordSorter(const Keyed& keyed, size_t count, ThreadPool* pool)
      : input_(keyed.elements),
        size_(keyed.size),
        count_(count),
        order_(keyed.order),
        mappings_(keyed.mappings),
        index_bits_(index_bits(count)),
        index_mask_((uint64_t{1} << index_bits_) - 1),
        pool_(pool) {}

  void sort(uint64_t* entries, uint64_t* scratch);
  const std::byte* element(uint64_t entry) const { return input_ + (entry & index_mask_) * size_; }

 private:
  struct Range {
    uint64_t low;
    uint64_t high;
  };

  Range read_words(const uint64_t* entries, uint64_t* words, size_t count,
                   const Place& place) const;
  // How many bits of words in this range do not fit above an index.
  int excess_bits(const Range& range) const {
    return std::max(0, static_cast<int>(std::bit_width(range.high - range.low)) - 64 + index_bits_);
  }
  void pack(uint64_t* entries, const uint64_t* words, size_t count, const Range& range) const;
  // The place behind `place`, whose words are all `word`. False where the order ends there.
  bool advance(Place& place, uint64_t word) const;
  bool ends_with(const Place& place) const {
    return place.key + 1 == order_.count && is_number(order_.keys[place.key].type);
  }
  size_t run_end(const uint64_t* entries, size_t start, size_t count) const;

  void sort_small(uint64_t* entries, size_t count, Place place) const;
  void sort_run(uint64_t* entries, uint64_t* scratch, size_t count, Place place) const;

  const std::byte* const input_;
  const size_t size_;
  const size_t count_;
  const Order& order_;
  const Mappings& mappings_;
  const int index_bits_;
  const uint64_t index_mask_;
  ThreadPool* const pool_;
};

RecordSorter::Range RecordSorter::read_words(const uint64_t* entries, uint64_t* words, size_t count,
                                             const Place& place) const {
  const Key& key = order_.keys[place.key];
  return with_reader(key, place.depth, mappings_, [&](auto&& read) {
    Range range = {~uint64_t{0}, 0};
    for (size_t i = 0; i < count; ++i) {
      // Elements, and the strings that they point to, come from all over the memory.
      if (i + 2 * kAhead < count) __builtin_prefetch(element(entries[i + 2 * kAhead]) + key.offset);
      if (key.type == KeyType::string && i + kAhead < count) {
        const std::byte* next = element(entries[i + kAhead]) + key.offset;
        __builtin_prefetch(hoist::qsort::words::load<const std::byte*>(next) + 8 * place.depth);
      }
      words[i] = read(element(entries[i]));
      range = {std::min(range.low, words[i]), std::max(range.high, words[i])};
    }
    return range;
  });
}

void RecordSorter::pack(uint64_t* entries, const uint64_t* words, size_t count,
                        const Range& range) const {
  const int excess = excess_bits(range);
  for (size_t i = 0; i < count; ++i) {
    entries[i] = ((words[i] - range.low) >> excess) << index_bits_ | (entries[i] & index_mask_);
  }
}

bool RecordSorter::advance(Place& place, uint64_t word) const {
  if (continues(order_.keys[place.key], word, place.depth)) {
    ++place.depth;
    return true;
  }
  place = {place.key + 1, 0};
  return place.key < order_.count;
}

size_t RecordSorter::run_end(const uint64_t* entries, size_t start, size_t count) const {
  size_t end = start + 1;
  while (end < count && entries[end] >> index_bits_ == entries[start] >> index_bits_) ++end;
  return end;
}

// The same as sort_run() for a few, whose words fit the stack.
void RecordSorter::sort_small(uint64_t* entries, size_t count, Place place) const {
  struct Item {
    uint64_t word;
    uint64_t entry;
  };
  std::array<Item, kSmallRun> items;
  bool differ = false;
  while (true) {
    with_reader(order_.keys[place.key], place.depth, mappings_, [&](auto&& read) {
      for (size_t i = 0; i < count; ++i) {
        items[i] = {read(element(entries[i])), entries[i]};
        differ |= items[i].word != items[0].word;
      }
    });
    if (differ) break;
    if (!advance(place, items[0].word)) return;
  }
  std::sort(items.begin(), items.begin() + count, [&](const Item& a, const Item& b) {
    if (a.word != b.word) return a.word < b.word;
    return (a.entry & index_mask_) < (b.entry & index_mask_);
  });
  for (size_t i = 0; i < count; ++i) entries[i] = items[i].entry;
  if (ends_with(place)) return;
  for (size_t start = 0; start < count;) {
    size_t end = start + 1;
    while (end < count && items[end].word == items[start].word) ++end;
    Place next = place;
    if (end - start > 1 && advance(next, items[start].word)) {
      sort_small(entries + start, end - start, next);
    }
    start = end;
  }
}

// Entries that agree in all words in front of `place`, in the order of their indices.
void RecordSorter::sort_run(uint64_t* entries, uint64_t* scratch, size_t count, Place place) const {
  while (count > 1) {
    if (count <= kSmallRun) return sort_small(entries, count, place);
    const Range range = read_words(entries, scratch, count, place);
    if (range.low == range.high) {
      if (!advance(place, range.low)) return;
      continue;
    }
    pack(entries, scratch, count, range);
    radix_sort(entries, scratch, count, index_bits_, nullptr);
    if (excess_bits(range) == 0 && ends_with(place)) return;
    // The longest run is left to the loop, so that the others halve with every call.
    size_t longest = 0;
    size_t longest_count = 0;
    for (size_t start = 0; start < count;) {
      const size_t end = run_end(entries, start, count);
      if (end - start > longest_count) {
        longest = start;
        longest_count = end - start;
      }
      start = end;
    }
    for (size_t start = 0; start < count;) {
      const size_t end = run_end(entries, start, count);
      if (start != longest && end - start > 1) {
        sort_run(entries + start, scratch + start, end - start, place);
      }
      start = end;
    }
    entries += longest;
    scratch += longest;
    count = longest_count;
  }
}

void RecordSorter::sort(uint64_t* entries, uint64_t* scratch) {
  const size_t chunks = chunks_for(pool_);
  for_chunks(count_, chunks, pool_, [&](size_t, size_t start, size_t end) {
    for (size_t i = start; i < end; ++i) entries[i] = i;
  });
  Place place;
  Range range;
  std::vector<Range> ranges(chunks);
  while (true) {
    for_chunks(count_, chunks, pool_, [&](size_t chunk, size_t start, size_t end) {
      ranges[chunk] = read_words(entries + start, scratch + start, end - start, place);
    });
    range = ranges[0];
    for (const Range& part : ranges) {
      range = {std::min(range.low, part.low), std::max(range.high, part.high)};
    }
    if (range.low != range.high) break;
    if (!advance(place, range.low)) return;
  }
  for_chunks(count_, chunks, pool_, [&](size_t, size_t start, size_t end) {
    pack(entries + start, scratch + start, end - start, range);
  });
  radix_sort(entries, scratch, count_, index_bits_, pool_);
  if (excess_bits(range) == 0 && ends_with(place)) return;
  // A run is the work of the chunk that it starts in. Whoever sorts it changes its entries, so the
  // chunks' borders are found first, and nobody looks over them.
  std::vector<size_t> borders(chunks + 1, count_);
  for_chunks(count_, chunks, pool_, [&](size_t chunk, size_t start, size_t) {
    borders[chunk] = start == 0 ? 0 : run_end(entries, start - 1, count_);
  });
  for_chunks(count_, chunks, pool_, [&](size_t chunk, size_t, size_t) {
    for (size_t start = borders[chunk]; start < borders[chunk + 1];) {
      const size_t end = run_end(entries, start, borders[chunk + 1]);
      if (end - start > 1) sort_run(entries + start, scratch + start, end - start, place);
      start = end;
    }
  });
}

template <size_t kSize>
void move_elements(const Call& call, const std::byte* input, const uint64_t* entries,
                   uint64_t index_mask, size_t start, size_t end) {
  const size_t size = kSize != 0 ? kSize : call.size;
  const auto element = [=](size_t i) { return input + (entries[i] & index_mask) * size; };
  for (size_t i = start; i < end; ++i) {
    if (i + kAhead < end) __builtin_prefetch(element(i + kAhead));
    std::memcpy(call.base + i * size, element(i), size);
  }
}

auto* mover_of(size_t size) {
  switch (size) {
    case 4:
      return move_elements<4>;
    case 8:
      return move_elements<8>;
    case 12:
      return move_elements<12>;
    case 16:
      return move_elements<16>;
    case 24:
      return move_elements<24>;
    case 32:
      return move_elements<32>;
    default:
      return move_elements<0>;
  }
}

}  // namespace

int index_bits(size_t count) { return static_cast<int>(std::bit_width(count - 1)); }

const uint64_t* sort_records(const Call& call, const Keyed& keyed, Workspace& workspace,
                             ThreadPool* pool) {
  auto* entries = reinterpret_cast<uint64_t*>(workspace.buffer(1, call.count * sizeof(uint64_t)));
  // The array itself, whose content is kept, where it can hold as much.
  const bool fits = call.size >= sizeof(uint64_t) &&
                    reinterpret_cast<uintptr_t>(call.base) % sizeof(uint64_t) == 0;
  std::byte* const room = fits ? call.base : workspace.buffer(2, call.count * sizeof(uint64_t));
  auto* scratch = reinterpret_cast<uint64_t*>(room);
  if (entries == nullptr || scratch == nullptr) return nullptr;
  RecordSorter(keyed, call.count, pool).sort(entries, scratch);
  const std::byte* const input = workspace.buffer(0, 0);
  const uint64_t mask = (uint64_t{1} << index_bits(call.count)) - 1;
  auto* const move = mover_of(call.size);
  for_chunks(call.count, chunks_for(pool), pool, [&](size_t, size_t start, size_t end) {
    move(call, input, entries, mask, start, end);
  });
  return entries;
}

}  // namespace hoist::qsort
