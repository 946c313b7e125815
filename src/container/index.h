// The lists of blocks: reading the chain that ends in a commit, and writing the next one.
#pragma once

#include <string>
#include <vector>

#include "container/source.h"

namespace hoist::container {

// What a reader may allocate for a file, whatever the file says; `exhausted` beyond.
struct Limits {
  uint64_t metadata = uint64_t{64} << 20;
  uint64_t index = uint64_t{1} << 30;  // of entries and digests as they lie in the file
  uint64_t block = uint64_t{4} << 30;  // that the reader itself makes room for
};

// One index or commit frame of the chain.
struct ListPlace {
  uint64_t offset = 0;
  uint64_t entries = 0;
  uint64_t digests = 0;
};

// The most lists of a chain. Each list but the first and the last of a chain that lists_to_merge()
// made is more than twice as long as the next.
inline constexpr size_t kMaxLists = 64;

struct Index {
  std::vector<Block> blocks;  // ascending in the file, none overlapping another
  std::vector<Blake3Digest> digests;
  std::vector<ListPlace> lists;  // in the order of the file
  Blake3Digest root{};
};

// Reads the chain of lists whose last is the commit frame at `offset`. Memory: at most four times
// the bytes of the lists, which lie side by side in the source and keep to `limits`.
Result<Index> load_index(const Source& source, const FileHeader& header, uint64_t offset,
                         const Limits& limits);
// The blocks that the index frame at the front lists.
Result<std::vector<Block>> load_front_index(const Source& source, const FileHeader& header,
                                            const Frame& frame, const Limits& limits);

// The offset of the commit frame that the source ends in; `corrupt` where it ends in none.
Result<uint64_t> find_last_commit(const Source& source);

// Whether some commit ends between `offset` and the end: then what lies there was committed, and is
// damaged rather than unfinished.
Result<bool> has_commit_behind(const Source& source, uint64_t offset);

// The payload of an index or commit frame without its trailer.
std::string encode_list(ListHeader list, std::span<const Block> entries,
                        std::span<const Blake3Digest> digests);

// How many of the chain's last lists the next one takes in, so that the chain stays logarithmic in
// the number of commits and writing it linear but for that factor: a list at most twice as long as
// what follows it is merged (the logarithmic method; Bentley and Saxe, 1980).
size_t lists_to_merge(std::span<const ListPlace> lists, uint64_t entries);

}  // namespace hoist::container
