// Strings in the order of strcoll(), which is the calling thread's locale's.
//
// strxfrm() turns a string into a key whose bytes strcmp() orders as strcoll() orders the strings,
// for about the time of one strcoll(). With a key for each element, made by all threads, the
// elements are sorted as by strcmp().
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/file.h"
#include "base/threads.h"
#include "ops/qsort/call.h"
#include "ops/qsort/key.h"

namespace hoist::qsort {

// Whether strcoll() is any different from strcmp() here and now.
bool locale_collates();

// As strcoll() of what the pointers lead to; 0 where that is no string of reasonable length.
int collate(const std::byte* a, const std::byte* b, const Mappings& mappings);
// The first 8 bytes of the string's key, as a number of the same order; 0 where it is none, or very
// long.
uint64_t collation_word(const std::byte* string, const Mappings& mappings);

// Whether the strings' weights of the first level are the same: they differ in case, accents and
// punctuation at most. Among such strings glibc's strxfrm() does not always agree with its
// strcoll(), about characters that are ignored at all levels but the last.
bool same_letters(const std::byte* a, const std::byte* b, const Mappings& mappings);

// The keys of an array's strings.
class CollationKeys {
 public:
  // Makes the keys of the strings that pointers at `offset` of the elements lead to. Null, or why
  // it failed. Throws where there is no memory for its own tables.
  const char* make(const Call& call, size_t offset, const Mappings& mappings, ThreadPool* pool);

  // One pointer to a key, a string, for each element.
  const std::byte* pointers() { return reinterpret_cast<const std::byte*>(pointers_.data()); }

 private:
  using Blocks = std::vector<PageBuffer>;

  PageBuffer pointers_;
  std::vector<Blocks> blocks_;  // of each chunk
};

}  // namespace hoist::qsort
