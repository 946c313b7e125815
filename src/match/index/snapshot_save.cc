#include <fmt/core.h>

#include <algorithm>

#include "container/writer.h"
#include "match/index/snapshot.h"
#include "match/index/snapshot_format.h"
#include "match/index/symbol_counts.h"

namespace hoist::match {
namespace {

using container::Bytes;
using snapshot::Part;

// Bytes that count no more, and may stay in the file besides half of it.
constexpr uint64_t kSpareBytes = uint64_t{1} << 20;

template <typename T>
Bytes bytes_of(std::span<const T> column) {
  return std::as_bytes(column);
}
template <typename T>
Bytes bytes_of(const std::vector<T>& column) {
  return std::as_bytes(std::span(column));
}

Status add_block(container::Writer& writer, uint64_t id, uint32_t kind, Bytes bytes) {
  return writer.add({.id = id, .raw_size = bytes.size(), .kind = kind, .alignment_log2 = 6}, bytes);
}

// The pieces of the columns of one segment; empty columns have none.
class SegmentSaver {
 public:
  SegmentSaver(container::Writer& writer, const StableSegment& segment)
      : writer_(writer), segment_(segment) {}

  Result<uint64_t> save() {
    const StableSegment::Columns& c = segment_.columns();
    const SegmentView view = segment_.view();
    add(Part::buckets, bytes_of(view.buckets));
    add(Part::dense_symbols, bytes_of(view.dense_symbols));
    add(Part::symbols16, bytes_of(view.symbols16));
    add(Part::symbols32, bytes_of(view.symbols32));
    add(Part::name_ranks, bytes_of(view.name_ranks));
    add(Part::name_slots, bytes_of(c.names.slots()));
    add(Part::own_names, bytes_of(c.names.own()));
    add(Part::name_pool, bytes_of(c.names.pool()));
    add(Part::serials, bytes_of(c.serials));
    add(Part::shapes, bytes_of(c.shapes));
    add(Part::shape_pool, bytes_of(c.shape_pool));
    add_frequencies();
    add_emotives();
    if (!status_) return status_.error();
    return size_;
  }

 private:
  void add(Part part, Bytes bytes) {
    for (uint64_t piece = 0; !bytes.empty() && status_; ++piece) {
      const Bytes now = bytes.first(std::min<size_t>(bytes.size(), snapshot::kPieceBytes));
      status_ = add_block(writer_, snapshot::piece_id(segment_.number(), part, piece),
                          snapshot::kSegment, now);
      size_ += now.size();
      bytes = bytes.subspan(now.size());
    }
  }
  // They may change meanwhile; the manifest has the changed ones again.
  void add_frequencies() {
    std::vector<uint32_t> frequencies(segment_.size());
    for (uint32_t i = 0; i < segment_.size(); ++i) frequencies[i] = segment_.frequency(i);
    add(Part::frequencies, bytes_of(frequencies));
    const SymbolCounts counts = count_symbols(segment_.view(), frequencies);
    add(Part::patterns_with, bytes_of(counts.patterns_with));
    add(Part::occurrences, bytes_of(counts.occurrences));
  }
  void add_emotives() {
    std::string out;
    for (uint32_t i = 0; i < segment_.size() && segment_.emotives().any(); ++i) {
      const auto list = segment_.emotives().get(i);
      if (list == nullptr) continue;
      encode_varint(i, out);
      encode_emotives(*list, out);
    }
    add(Part::emotives, container::as_bytes(out));
  }

  container::Writer& writer_;
  const StableSegment& segment_;
  Status status_;
  uint64_t size_ = 0;
};

std::string encode_symbols(const Vocabulary& vocabulary, uint32_t from, uint32_t to) {
  std::string out;
  for (uint32_t id = from; id < to; ++id) {
    const std::string_view symbol = vocabulary.symbol(id);
    encode_varint(symbol.size(), out);
    out.append(symbol);
  }
  return out;
}

void encode_changes(const StableSegment& segment, std::string& out) {
  const std::vector<uint32_t> changed = segment.changed();
  encode_varint(changed.size(), out);
  for (const uint32_t i : changed) {
    encode_varint(i, out);
    encode_varint(segment.frequency(i), out);
    const auto list = segment.emotives().get(i);
    encode_emotives(list == nullptr ? EmotiveList() : *list, out);
  }
}

std::string encode_manifest(const SnapshotState& state, const SnapshotContents& contents) {
  std::string out;
  encode_varint(snapshot::kFormat, out);
  encode_varint(state.settings.sort ? 1 : 0, out);
  encode_varint(state.settings.persistence, out);
  encode_varint(state.position.serial, out);
  encode_varint(state.position.change, out);
  encode_varint(contents.symbol_blocks.size(), out);
  for (const auto& [first, size] : contents.symbol_blocks) encode_varint(first, out);
  encode_varint(contents.symbols, out);
  encode_varint(state.segments.size(), out);
  for (const auto& segment : state.segments) {
    encode_varint(segment->number(), out);
    encode_varint(segment->size(), out);
    encode_changes(*segment, out);
  }
  return out;
}

// Adds what `contents`, which comes to describe the file, does not have.
Status add_missing(container::Writer& writer, const SnapshotState& state,
                   SnapshotContents& contents) {
  const uint32_t symbols = std::min(state.symbols, state.vocabulary->size());
  if (contents.symbols < symbols) {
    const std::string bytes = encode_symbols(*state.vocabulary, contents.symbols, symbols);
    if (Status added = add_block(writer, snapshot::kSymbolsId | contents.symbols,
                                 snapshot::kSymbols, container::as_bytes(bytes));
        !added) {
      return added;
    }
    contents.symbol_blocks[contents.symbols] = bytes.size();
    contents.symbols = symbols;
  }
  std::map<uint64_t, uint64_t> kept;
  for (const auto& segment : state.segments) {
    const auto there = contents.segments.find(segment->number());
    if (there != contents.segments.end()) {
      kept.insert(*there);
      continue;
    }
    const Result<uint64_t> size = SegmentSaver(writer, *segment).save();
    if (!size) return size.error();
    kept[segment->number()] = *size;
  }
  contents.segments = std::move(kept);
  contents.exists = true;
  const std::string manifest = encode_manifest(state, contents);
  return add_block(writer, snapshot::kManifestId | contents.generation++, snapshot::kManifest,
                   container::as_bytes(manifest));
}

uint64_t bytes_that_count(const SnapshotState& state, const SnapshotContents& contents) {
  uint64_t sum = 0;
  for (const auto& segment : state.segments) {
    const auto there = contents.segments.find(segment->number());
    if (there != contents.segments.end()) sum += there->second;
  }
  for (const auto& [first, size] : contents.symbol_blocks) sum += size;
  return sum;
}

using BeforeCommit = std::function<Status()>;

Status fill_and_commit(container::Writer& writer, const SnapshotState& state,
                       SnapshotContents& contents, const BeforeCommit& before_commit) {
  if (Status added = add_missing(writer, state, contents); !added) return added;
  if (Status ready = before_commit(); !ready) return ready;
  return writer.commit();
}

Status write_anew(const std::string& path, const SnapshotState& state, SnapshotContents& contents,
                  const BeforeCommit& before_commit) {
  Result<container::Writer> writer =
      container::Writer::create(path, {.kind = snapshot::kFileKind, .metadata = {}, .plan = {}});
  if (!writer) return writer.error();
  contents = SnapshotContents(contents.generation);
  return fill_and_commit(*writer, state, contents, before_commit);
}

Status append(const std::string& path, const SnapshotState& state, SnapshotContents& contents,
              const BeforeCommit& before_commit) {
  {
    Result<container::Writer> writer =
        container::Writer::append(path, {.limits = {.index = UINT64_MAX, .block = UINT64_MAX}});
    if (!writer) return writer.error();
    if (writer->size() <= 2 * bytes_that_count(state, contents) + kSpareBytes) {
      return fill_and_commit(*writer, state, contents, before_commit);
    }
  }
  return write_anew(path, state, contents, before_commit);
}

}  // namespace

Status SnapshotFile::save(const SnapshotState& state,
                          const std::function<Status()>& before_commit) {
  SnapshotContents contents = contents_;
  const Status saved = contents.exists ? append(path_, state, contents, before_commit)
                                       : write_anew(path_, state, contents, before_commit);
  if (saved) contents_ = std::move(contents);
  return saved;
}

}  // namespace hoist::match
