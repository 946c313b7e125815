#include "codec/dictionary.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "codec/bitpack.h"
#include "codec/numbering.h"

namespace hoist::codec {
namespace {

Error corrupt(const char* what) {
  return fail(ErrorCode::corrupt, fmt::format("{} (dictionary stream)", what));
}

// For columns of few possible values: a table of all of them instead of a search.
template <typename T>
std::optional<Dictionary<T>> tabulate(std::span<const T> values, size_t max_entries) {
  std::vector<uint32_t> codes(size_t{1} << (8 * sizeof(T)));
  for (const T value : values) codes[value] = 1;
  Dictionary<T> dictionary;
  for (size_t value = 0; value < codes.size(); ++value) {
    if (codes[value] == 0) continue;
    if (dictionary.entries.size() == max_entries) return std::nullopt;
    codes[value] = static_cast<uint32_t>(dictionary.entries.size());
    dictionary.entries.push_back(static_cast<T>(value));
  }
  dictionary.codes.resize(values.size());
  std::transform(values.begin(), values.end(), dictionary.codes.begin(),
                 [&](T value) { return codes[value]; });
  return dictionary;
}

// Sorts the entries and renumbers the codes.
template <typename T>
void sort_entries(Dictionary<T>& dictionary) {
  std::vector<std::pair<T, uint32_t>> sorted(dictionary.entries.size());
  for (uint32_t i = 0; i < sorted.size(); ++i) sorted[i] = {dictionary.entries[i], i};
  std::sort(sorted.begin(), sorted.end());
  std::vector<uint32_t> renumbered(sorted.size());
  for (uint32_t i = 0; i < sorted.size(); ++i) {
    dictionary.entries[i] = sorted[i].first;
    renumbered[sorted[i].second] = i;
  }
  for (uint32_t& code : dictionary.codes) code = renumbered[code];
}

template <typename T>
std::optional<Dictionary<T>> search(std::span<const T> values, size_t max_entries) {
  Numbering<T> numbering(max_entries);
  Dictionary<T> dictionary;
  for (const T value : values) {
    const std::optional<uint32_t> number = numbering.number(value);
    if (!number) return std::nullopt;
    dictionary.codes.push_back(*number);
  }
  dictionary.entries = std::move(numbering).take_values();
  sort_entries(dictionary);
  return dictionary;
}

// Without an early end, so that it becomes vector code.
bool all_below(std::span<const uint32_t> codes, uint64_t limit) {
  const auto bound = static_cast<uint32_t>(std::min<uint64_t>(limit, UINT32_MAX));
  unsigned bad = 0;
  for (const uint32_t code : codes) bad |= code >= bound ? 1 : 0;
  return bad == 0;
}

}  // namespace

template <typename T>
std::optional<Dictionary<T>> make_dictionary(std::span<const T> values, size_t max_entries) {
  if constexpr (sizeof(T) <= 2) {
    // Not where the table would be far larger than the column.
    if (values.size() >> (8 * sizeof(T) - 3) != 0) return tabulate(values, max_entries);
  }
  return search(values, max_entries);
}

template <typename T>
uint64_t dictionary_size(const Dictionary<T>& dictionary) {
  return kStreamPartsHeader + bitpack_size<T>(dictionary.entries) +
         bitpack_size<uint32_t>(dictionary.codes);
}

template <typename T>
Result<std::vector<std::byte>> encode_dictionary(const Dictionary<T>& dictionary) {
  const Result<std::vector<std::byte>> entries = encode_bitpack<T>(dictionary.entries);
  if (!entries) return entries;
  const Result<std::vector<std::byte>> codes = encode_bitpack<uint32_t>(dictionary.codes);
  if (!codes) return codes;
  return join_parts(kDictionaryMagic, sizeof(T), {dictionary.codes.size(), *entries, *codes, {}});
}

template <typename T>
Status decode_dictionary(std::span<const std::byte> stream, std::span<T> out) {
  const Result<StreamParts> parts = split_parts(kDictionaryMagic, sizeof(T), stream);
  if (!parts) return parts.error();
  const Result<BitpackView> packed_entries = BitpackView::open(parts->first);
  if (!packed_entries) return packed_entries.error();
  const Result<BitpackView> codes = BitpackView::open(parts->second);
  if (!codes) return codes.error();
  if (parts->count != out.size() || codes->count() != out.size() || !parts->rest.empty() ||
      packed_entries->count() > out.size() || codes->value_bytes() != sizeof(uint32_t) ||
      packed_entries->value_bytes() != sizeof(T)) {
    return corrupt("wrong size");
  }
  std::vector<T> entries(packed_entries->count());
  if (Status status = packed_entries->decode<T>(0, entries); !status) return status;
  uint32_t tile[kTileValues];
  for (size_t done = 0; done < out.size(); done += kTileValues) {
    const std::span<uint32_t> part(tile, std::min<size_t>(kTileValues, out.size() - done));
    if (Status status = codes->decode<uint32_t>(done / kTileValues, part); !status) return status;
    if (!all_below(part, entries.size())) return corrupt("code without an entry");
    T* const to = out.data() + done;
    for (size_t i = 0; i < part.size(); ++i) to[i] = entries[part[i]];
  }
  return {};
}

template std::optional<Dictionary<uint8_t>> make_dictionary(std::span<const uint8_t>, size_t);
template std::optional<Dictionary<uint16_t>> make_dictionary(std::span<const uint16_t>, size_t);
template std::optional<Dictionary<uint32_t>> make_dictionary(std::span<const uint32_t>, size_t);
template std::optional<Dictionary<uint64_t>> make_dictionary(std::span<const uint64_t>, size_t);
template uint64_t dictionary_size(const Dictionary<uint8_t>&);
template uint64_t dictionary_size(const Dictionary<uint16_t>&);
template uint64_t dictionary_size(const Dictionary<uint32_t>&);
template uint64_t dictionary_size(const Dictionary<uint64_t>&);
template Result<std::vector<std::byte>> encode_dictionary(const Dictionary<uint8_t>&);
template Result<std::vector<std::byte>> encode_dictionary(const Dictionary<uint16_t>&);
template Result<std::vector<std::byte>> encode_dictionary(const Dictionary<uint32_t>&);
template Result<std::vector<std::byte>> encode_dictionary(const Dictionary<uint64_t>&);
template Status decode_dictionary(std::span<const std::byte>, std::span<uint8_t>);
template Status decode_dictionary(std::span<const std::byte>, std::span<uint16_t>);
template Status decode_dictionary(std::span<const std::byte>, std::span<uint32_t>);
template Status decode_dictionary(std::span<const std::byte>, std::span<uint64_t>);

}  // namespace hoist::codec
