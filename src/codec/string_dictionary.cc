#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "codec/bitpack.h"
#include "codec/dictionary.h"
#include "codec/numbering.h"

namespace hoist::codec {
namespace {

constexpr unsigned kValueBytes = 1;

Error corrupt(const char* what) {
  return fail(ErrorCode::corrupt, fmt::format("{} (string dictionary)", what));
}

std::vector<uint32_t> lengths_of(std::span<const std::string_view> entries) {
  std::vector<uint32_t> lengths(entries.size());
  std::transform(entries.begin(), entries.end(), lengths.begin(),
                 [](std::string_view entry) { return static_cast<uint32_t>(entry.size()); });
  return lengths;
}

uint64_t text_size(std::span<const std::string_view> entries) {
  uint64_t size = 0;
  for (const std::string_view entry : entries) size += entry.size();
  return size;
}

}  // namespace

std::optional<Dictionary<std::string_view>> make_string_dictionary(
    std::span<const std::string_view> values, size_t max_entries) {
  Numbering<std::string_view> numbering(max_entries);
  Dictionary<std::string_view> dictionary;
  for (const std::string_view value : values) {
    const std::optional<uint32_t> number = numbering.number(value);
    if (!number) return std::nullopt;
    dictionary.codes.push_back(*number);
  }
  dictionary.entries = std::move(numbering).take_values();
  return dictionary;
}

uint64_t string_dictionary_size(const Dictionary<std::string_view>& dictionary) {
  return kStreamPartsHeader + bitpack_size<uint32_t>(lengths_of(dictionary.entries)) +
         bitpack_size<uint32_t>(dictionary.codes) + text_size(dictionary.entries);
}

Result<std::vector<std::byte>> encode_string_dictionary(
    const Dictionary<std::string_view>& dictionary) {
  for (const std::string_view entry : dictionary.entries) {
    if (entry.size() > UINT32_MAX) {
      return fail(ErrorCode::invalid_argument,
                  "string of 4 GiB or more (string dictionary): store it by itself");
    }
  }
  const Result<std::vector<std::byte>> lengths =
      encode_bitpack<uint32_t>(lengths_of(dictionary.entries));
  if (!lengths) return lengths;
  const Result<std::vector<std::byte>> codes = encode_bitpack<uint32_t>(dictionary.codes);
  if (!codes) return codes;
  std::string text;
  text.reserve(text_size(dictionary.entries));
  for (const std::string_view entry : dictionary.entries) text += entry;
  return join_parts(kStringDictionaryMagic, kValueBytes,
                    {dictionary.codes.size(), *lengths, *codes, std::as_bytes(std::span(text))});
}

Result<StringDictionaryView> StringDictionaryView::open(std::span<const std::byte> stream) {
  const Result<StreamParts> parts = split_parts(kStringDictionaryMagic, kValueBytes, stream);
  if (!parts) return parts.error();
  const Result<BitpackView> packed_lengths = BitpackView::open(parts->first);
  if (!packed_lengths) return packed_lengths.error();
  const Result<BitpackView> codes = BitpackView::open(parts->second);
  if (!codes) return codes.error();
  if (codes->count() != parts->count || packed_lengths->count() > parts->count ||
      codes->value_bytes() != sizeof(uint32_t) ||
      packed_lengths->value_bytes() != sizeof(uint32_t)) {
    return corrupt("wrong size");
  }
  // Entries are distinct, so at most one is empty: this bounds what is allocated for them.
  if (packed_lengths->count() > parts->rest.size() + 1) return corrupt("more entries than text");
  std::vector<uint32_t> lengths(packed_lengths->count());
  if (Status status = packed_lengths->decode<uint32_t>(0, lengths); !status) {
    return status.error();
  }
  std::string_view text(reinterpret_cast<const char*>(parts->rest.data()), parts->rest.size());
  std::vector<std::string_view> entries;
  entries.reserve(lengths.size());
  for (const uint32_t length : lengths) {
    if (length > text.size()) return corrupt("entry beyond the end");
    entries.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  if (!text.empty()) return corrupt("text without an entry");
  return StringDictionaryView(*parts, std::move(entries));
}

Status StringDictionaryView::decode_codes(std::span<uint32_t> out) const {
  if (Status status = decode_bitpack<uint32_t>(parts_.second, out); !status) return status;
  if (!out.empty() && *std::max_element(out.begin(), out.end()) >= entries_.size()) {
    return corrupt("code without an entry");
  }
  return {};
}

Status StringDictionaryView::decode(std::span<std::string_view> out) const {
  std::vector<uint32_t> codes(out.size());
  if (Status status = decode_codes(codes); !status) return status;
  std::transform(codes.begin(), codes.end(), out.begin(),
                 [&](uint32_t code) { return entries_[code]; });
  return {};
}

}  // namespace hoist::codec
