// Dictionaries: the distinct values of a column, and for each value the number of its entry, both
// bit-packed (bitpack.h; docs/reference/bitpacking.md has the format).
//
//   if (const auto dictionary = make_dictionary<uint64_t>(column, 65536);
//       dictionary && dictionary_size(*dictionary) < bitpack_size<uint64_t>(column)) {
//     Result<std::vector<std::byte>> stream = encode_dictionary(*dictionary);
//   }
//   Status status = decode_dictionary<uint64_t>(*stream, values);
//
// Integers (uint8_t, uint16_t, uint32_t, uint64_t) have sorted entries, so that they pack as
// differences and equal columns give equal streams; strings of bytes have theirs in order of first
// appearance, since theirs is a common order in records (new values come later).
//
// Decoding trusts no byte: `corrupt` for what is damaged, no access outside the spans, and no more
// memory than the entries take: at most as many as `out` has values; of strings at most 20 bytes
// for each byte of their text, and 4 for each value. Thread-safe: no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/stream_parts.h"

namespace hoist::codec {

template <typename T>
struct Dictionary {
  std::vector<T> entries;
  std::vector<uint32_t> codes;  // entries[codes[i]] is value i
};

// Nothing where the column has more than `max_entries` distinct values, or such as were made to
// collide in a hash table (numbering.h).
template <typename T>
std::optional<Dictionary<T>> make_dictionary(std::span<const T> values, size_t max_entries);

// Exactly the size of its stream.
template <typename T>
uint64_t dictionary_size(const Dictionary<T>& dictionary);

// Errors are those of encode_bitpack.
template <typename T>
Result<std::vector<std::byte>> encode_dictionary(const Dictionary<T>& dictionary);

template <typename T>
Status decode_dictionary(std::span<const std::byte> stream, std::span<T> out);

// The same for strings of bytes, each shorter than 4 GiB. Views point into the given strings.
std::optional<Dictionary<std::string_view>> make_string_dictionary(
    std::span<const std::string_view> values, size_t max_entries);

uint64_t string_dictionary_size(const Dictionary<std::string_view>& dictionary);

// `invalid_argument` for a longer string.
Result<std::vector<std::byte>> encode_string_dictionary(
    const Dictionary<std::string_view>& dictionary);

// A stream of strings, opened: entries without copies, codes on demand.
class StringDictionaryView {
 public:
  // The stream must outlive the view.
  static Result<StringDictionaryView> open(std::span<const std::byte> stream);

  uint64_t count() const { return parts_.count; }
  std::span<const std::string_view> entries() const { return entries_; }

  // Entry numbers, all below entries().size(); `out` must have count() values.
  Status decode_codes(std::span<uint32_t> out) const;
  // The strings, pointing into the stream.
  Status decode(std::span<std::string_view> out) const;

 private:
  StringDictionaryView(const StreamParts& parts, std::vector<std::string_view> entries)
      : parts_(parts), entries_(std::move(entries)) {}

  StreamParts parts_;
  std::vector<std::string_view> entries_;
};

}  // namespace hoist::codec
