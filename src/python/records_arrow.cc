#include "python/records_arrow.h"

#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "python/arrow_owned.h"

namespace hoist::python {
namespace {

using records::RecordReader;
using namespace records::typed;

void make_column_schema(const ColumnType& type, ArrowSchema* out) {
  if (type.dictionary != nullptr) {
    ArrowSchema entries;
    make_arrow_schema(arrow_format(type), "", false, {}, &entries);
    return make_arrow_schema("i", type.name, type.nullable, {}, out, entries);
  }
  if (!type.is_list)
    return make_arrow_schema(arrow_format(type), type.name, type.nullable, {}, out);
  std::vector<ArrowSchema> children(1);
  make_arrow_schema(arrow_format(type), "item", true, {}, children.data());
  make_arrow_schema("+L", type.name, true, std::move(children), out);
}

std::vector<uint8_t> bitmap(size_t count, const auto& at) {
  std::vector<uint8_t> bits((count + 7) / 8);
  for (size_t i = 0; i < count; ++i) {
    if (at(i)) bits[i / 8] |= static_cast<uint8_t>(1u << (i % 8));
  }
  return bits;
}

// The validity bitmap is null where all are valid.
int64_t add_validity(const std::vector<uint8_t>& valid,
                     ArrowOwned<ArrowArray, ColumnChunk>& owned) {
  int64_t nulls = 0;
  for (const uint8_t each : valid) nulls += each == 0 ? 1 : 0;
  owned.buffers.push_back(nullptr);
  if (nulls > 0) {
    owned.bitmaps.push_back(bitmap(valid.size(), [&](size_t i) { return valid[i] != 0; }));
    owned.buffers.back() = owned.bitmaps.back().data();
  }
  return nulls;
}

// Arrow wants a place even for buffers of no bytes.
template <typename T>
const void* place_of(const T& buffer) {
  static constexpr int64_t kNothing[8] = {};
  return buffer.empty() ? static_cast<const void*>(kNothing) : buffer.data();
}

void finish_array(std::unique_ptr<ArrowOwned<ArrowArray, ColumnChunk>> owned, size_t length,
                  int64_t nulls, ArrowArray* out) {
  *out = {};
  out->length = static_cast<int64_t>(length);
  out->null_count = nulls;
  out->n_buffers = static_cast<int64_t>(owned->buffers.size());
  out->buffers = owned->buffers.data();
  finish_arrow(std::move(owned), out);
}

// The entries of a dictionary, which all batches share.
struct Entries {
  std::vector<int64_t> offsets = {0};
  std::string bytes;
};

std::shared_ptr<const Entries> entries_of(const ColumnType& type) {
  if (type.dictionary == nullptr) return nullptr;
  auto entries = std::make_shared<Entries>();
  for (const std::string& entry : type.dictionary->entries) {
    entries->bytes += entry;
    entries->offsets.push_back(static_cast<int64_t>(entries->bytes.size()));
  }
  return entries;
}

ArrowArray make_entries(const std::shared_ptr<const Entries>& entries) {
  auto owned = std::make_unique<ArrowOwned<ArrowArray, std::shared_ptr<const Entries>>>();
  owned->kept = entries;
  owned->buffers = {nullptr, entries->offsets.data(), place_of(entries->bytes)};
  ArrowArray out = {};
  out.length = static_cast<int64_t>(entries->offsets.size() - 1);
  out.n_buffers = 3;
  out.buffers = owned->buffers.data();
  finish_arrow(std::move(owned), &out);
  return out;
}

void make_codes(const ColumnChunk& chunk, const std::shared_ptr<const Entries>& entries,
                ArrowArray* out) {
  auto owned = std::make_unique<ArrowOwned<ArrowArray, ColumnChunk>>();
  owned->bitmaps.reserve(2);
  const int64_t nulls = add_validity(chunk.valid, *owned);
  const std::vector<int32_t> codes(chunk.integers.begin(), chunk.integers.end());
  const auto bytes = std::as_bytes(std::span(codes));
  std::vector<uint8_t>& kept = owned->bitmaps.emplace_back(bytes.size());
  std::memcpy(kept.data(), bytes.data(), bytes.size());
  owned->buffers.push_back(place_of(kept));
  owned->dictionary = make_entries(entries);
  finish_array(std::move(owned), chunk.valid.size(), nulls, out);
}

void make_values(ColumnChunk values, ValueKind kind, ArrowArray* out) {
  auto owned = std::make_unique<ArrowOwned<ArrowArray, ColumnChunk>>();
  owned->bitmaps.reserve(2);
  const ColumnChunk& chunk = owned->kept.emplace(std::move(values));
  const int64_t nulls = add_validity(chunk.valid, *owned);
  if (kind == ValueKind::boolean) {
    owned->bitmaps.push_back(
        bitmap(chunk.integers.size(), [&](size_t i) { return chunk.integers[i] != 0; }));
    owned->buffers.push_back(place_of(owned->bitmaps.back()));
  } else if (kind == ValueKind::real) {
    owned->buffers.push_back(place_of(chunk.reals));
  } else if (kind == ValueKind::decimal) {
    owned->buffers.push_back(place_of(chunk.decimals));
  } else if (kind == ValueKind::text) {
    owned->buffers.push_back(chunk.offsets.data());
    owned->buffers.push_back(place_of(chunk.bytes));
  } else {
    owned->buffers.push_back(place_of(chunk.integers));
  }
  finish_array(std::move(owned), chunk.valid.size(), nulls, out);
}

void make_column(ColumnChunk chunk, const ColumnType& type, ArrowArray* out) {
  if (!type.is_list) return make_values(std::move(chunk), type.kind, out);
  auto owned = std::make_unique<ArrowOwned<ArrowArray, ColumnChunk>>();
  owned->bitmaps.reserve(1);
  ColumnChunk& lists = owned->kept.emplace();
  lists.lists = std::move(chunk.lists);
  lists.list_valid = std::move(chunk.list_valid);
  const int64_t nulls = add_validity(lists.list_valid, *owned);
  owned->buffers.push_back(lists.lists.data());
  owned->children.resize(1);
  make_values(std::move(chunk), type.kind, owned->children.data());
  finish_array(std::move(owned), lists.list_valid.size(), nulls, out);
}

void make_batch(SelectedBlock block, const std::vector<ColumnType>& types,
                const std::vector<std::shared_ptr<const Entries>>& entries, ArrowArray* out) {
  auto owned = std::make_unique<ArrowOwned<ArrowArray, ColumnChunk>>();
  owned->children.resize(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    if (entries[i] != nullptr) {
      make_codes(block.columns[i], entries[i], &owned->children[i]);
    } else {
      make_column(std::move(block.columns[i]), types[i], &owned->children[i]);
    }
  }
  owned->buffers.push_back(nullptr);
  finish_array(std::move(owned), block.rows, 0, out);
}

struct Stream {
  std::shared_ptr<const RecordReader> reader;
  Selection selection;
  std::vector<size_t> blocks = {};
  std::vector<std::shared_ptr<const Entries>> entries = {};  // of each column; null: it has none
  size_t next = 0;
  std::string error = {};
};

int errno_of(const Error& error) {
  if (error.system_errno != 0) return error.system_errno;
  return error.code == ErrorCode::exhausted ? ENOMEM : EIO;
}

// What is left of a structure when memory runs out is leaked rather than freed twice.
template <typename Work>
int guarded(ArrowArrayStream* it, const Work& work) {
  auto* const stream = static_cast<Stream*>(it->private_data);
  try {
    return work(*stream);
  } catch (const std::bad_alloc&) {
    stream->error.clear();
    return ENOMEM;
  }
}

int get_schema(ArrowArrayStream* it, ArrowSchema* out) {
  return guarded(it, [&](Stream& stream) {
    std::vector<ArrowSchema> columns(stream.selection.columns.size());
    for (size_t i = 0; i < columns.size(); ++i) {
      make_column_schema(stream.selection.columns[i], &columns[i]);
    }
    make_arrow_schema("+s", "", false, std::move(columns), out);
    return 0;
  });
}

int get_next(ArrowArrayStream* it, ArrowArray* out) {
  return guarded(it, [&](Stream& stream) {
    *out = {};  // released: the end
    while (stream.next < stream.blocks.size()) {
      Result<SelectedBlock> block =
          read_block(*stream.reader, stream.blocks[stream.next], stream.selection);
      if (!block) {
        stream.error = block.error().message;
        return errno_of(block.error());
      }
      ++stream.next;
      if (block->rows == 0) continue;
      make_batch(std::move(*block), stream.selection.columns, stream.entries, out);
      break;
    }
    return 0;
  });
}

const char* get_last_error(ArrowArrayStream* it) {
  const auto* const stream = static_cast<Stream*>(it->private_data);
  return stream->error.empty() ? nullptr : stream->error.c_str();
}

void release_stream(ArrowArrayStream* it) {
  delete static_cast<Stream*>(it->private_data);
  it->release = nullptr;
}

}  // namespace

std::string arrow_format(const ColumnType& type) {
  switch (type.kind) {
    case ValueKind::boolean:
      return "b";
    case ValueKind::integer:
      return "l";
    case ValueKind::real:
      return "g";
    case ValueKind::timestamp: {
      constexpr const char* kNaive[] = {"tss:", "tsm:", "tsu:", "tsn:"};
      constexpr const char* kUtc[] = {"tss:UTC", "tsm:UTC", "tsu:UTC", "tsn:UTC"};
      return (type.is_utc ? kUtc : kNaive)[type.fraction / 3];
    }
    case ValueKind::decimal:
      return "d:" + std::to_string(kMostDigits) + "," + std::to_string(type.scale);
    case ValueKind::text:
      break;
  }
  return type.is_binary ? "Z" : "U";
}

void make_arrow_schema(const std::string& format, const std::string& name, bool nullable,
                       std::vector<ArrowSchema> children, ArrowSchema* out,
                       std::optional<ArrowSchema> dictionary) {
  auto owned = std::make_unique<ArrowOwned<ArrowSchema, int>>();
  owned->children = std::move(children);
  owned->dictionary = dictionary;
  owned->name = name;
  owned->format = format;
  *out = {};
  out->format = owned->format.c_str();
  out->name = owned->name.c_str();
  out->flags = nullable ? kArrowNullable : 0;
  finish_arrow(std::move(owned), out);
}

void make_arrow_stream(std::shared_ptr<const RecordReader> reader, Selection selection,
                       ArrowArrayStream* out) {
  auto stream = std::make_unique<Stream>(Stream{std::move(reader), std::move(selection)});
  stream->blocks = blocks_of(*stream->reader, stream->selection);
  for (const ColumnType& type : stream->selection.columns) {
    stream->entries.push_back(entries_of(type));
  }
  *out = {&get_schema, &get_next, &get_last_error, &release_stream, stream.release()};
}

}  // namespace hoist::python
