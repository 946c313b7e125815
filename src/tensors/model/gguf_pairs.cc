#include "tensors/model/gguf_pairs.h"

#include <optional>

namespace hoist::tensors {
namespace {

constexpr int kMaxNesting = 4;  // of arrays
constexpr uint64_t kMaxAlignment = uint64_t{1} << 20;
constexpr uint64_t kDefaultAlignment = 32;
constexpr std::string_view kAlignmentKey = "general.alignment";

template <typename T>
void append_numbers(GgufCursor& in, uint64_t count, std::string& bytes) {
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    const T value = in.read<T>();
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
}

void read_numbers(GgufCursor& in, MetadataKind kind, uint64_t count, std::string& bytes) {
  switch (metadata_bytes(kind)) {
    case 1:
      return append_numbers<uint8_t>(in, count, bytes);
    case 2:
      return append_numbers<uint16_t>(in, count, bytes);
    case 4:
      return append_numbers<uint32_t>(in, count, bytes);
    default:
      return append_numbers<uint64_t>(in, count, bytes);
  }
}

MetadataKind read_kind(GgufCursor& in) {
  const auto number = in.read<uint32_t>();
  if (number >= kMetadataKinds) in.refuse("a value of an unknown kind");
  return in.ok() ? static_cast<MetadataKind>(number) : MetadataKind::u8;
}

// Lengths are checked against what is left of the file while it is read.
std::string read_text(GgufCursor& in) {
  return in.text(kMaxHeaderBytes, "a text of more than 256 MiB");
}

// `value` may be null: then what is read is dropped.
void read_value(GgufCursor& in, MetadataKind kind, int nesting, MetadataValue* value);

void read_array(GgufCursor& in, int nesting, MetadataValue* value) {
  const MetadataKind kind = read_kind(in);
  const uint64_t count = in.size();
  if (nesting == kMaxNesting) in.refuse("arrays nested too deep");
  if (!in.ok()) return;
  if (value != nullptr) {
    value->kind = kind;
    value->is_array = true;
    value->count = count;
  }
  if (const size_t bytes = metadata_bytes(kind); bytes != 0) {
    if (count > container::kMaxSize / sizeof(uint64_t)) {
      in.refuse("an array larger than any file");
    } else if (value == nullptr) {
      in.skip(count * bytes);
    } else {
      read_numbers(in, kind, count, value->bytes);
    }
    return;
  }
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    if (value == nullptr) {
      read_value(in, kind, nesting + 1, nullptr);
    } else if (kind == MetadataKind::text) {
      value->texts.push_back(read_text(in));
    } else {
      read_value(in, kind, nesting + 1, &value->arrays.emplace_back());
    }
  }
}

void read_value(GgufCursor& in, MetadataKind kind, int nesting, MetadataValue* value) {
  if (kind == MetadataKind::array) return read_array(in, nesting, value);
  if (value == nullptr) {
    return in.skip(kind == MetadataKind::text ? in.size() : metadata_bytes(kind));
  }
  value->kind = kind;
  if (kind == MetadataKind::text) {
    value->bytes = read_text(in);
  } else {
    read_numbers(in, kind, 1, value->bytes);
  }
}

}  // namespace

uint64_t read_pairs(GgufCursor& in, uint64_t count, std::vector<MetadataPair>* pairs) {
  std::optional<uint64_t> alignment;
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    MetadataPair pair;
    pair.key = in.text(kMaxGgufName, "a key of more than 64 KiB");
    const MetadataKind kind = read_kind(in);
    const bool aligns = pair.key == kAlignmentKey;
    if (aligns && kind != MetadataKind::u32) in.refuse("an alignment that is no u32");
    read_value(in, kind, 0, pairs != nullptr || aligns ? &pair.value : nullptr);
    if (!in.ok()) break;
    if (aligns) {
      uint32_t wish = 0;
      std::memcpy(&wish, pair.value.bytes.data(), sizeof wish);
      if (alignment.value_or(wish) != wish) in.refuse("two different alignments");
      alignment = wish;
    }
    if (pairs != nullptr) pairs->push_back(std::move(pair));
  }
  const uint64_t found = alignment.value_or(kDefaultAlignment);
  if (found == 0 || found % 8 != 0 || found > kMaxAlignment) {
    in.refuse("an alignment that is no multiple of 8 up to 1 MiB");
  }
  return found;
}

Result<std::vector<MetadataPair>> read_gguf_metadata(const container::Source& source) {
  GgufCursor in(source);
  in.read_version();
  in.size();  // tensors
  const uint64_t count = in.size();
  std::vector<MetadataPair> pairs;
  read_pairs(in, count, &pairs);
  if (!in.ok()) return in.status().error();
  return pairs;
}

}  // namespace hoist::tensors
