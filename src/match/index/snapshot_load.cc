#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <set>

#include "base/bytes_text.h"
#include "base/threads.h"
#include "container/reader.h"
#include "match/index/snapshot.h"
#include "match/index/snapshot_format.h"
#include "match/index/symbol_counts.h"

namespace hoist::match {
namespace {

using container::Block;
using container::MutableBytes;
using snapshot::Part;

std::string_view text_of(const container::BlockBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Pieces to be read, all together on all threads once it is known where they go.
class Pieces {
 public:
  explicit Pieces(const container::Reader& reader) : reader_(reader) {}

  void add(uint64_t segment, const Block& block, MutableBytes into) {
    wanted_.push_back({segment, &block, into});
  }

  // The first error; segments with one come to be in `damaged`.
  Status read(std::set<uint64_t>& damaged) {
    std::mutex mutex;
    Status status;
    ThreadPool::process().parallel_for(wanted_.size(), [&](size_t i) {
      Status got = reader_.read(*wanted_[i].block, wanted_[i].into);
      if (got) return;
      const std::lock_guard lock(mutex);
      damaged.insert(wanted_[i].segment);
      if (status) status = std::move(got);
    });
    return status;
  }

 private:
  struct Piece {
    uint64_t segment;
    const Block* block;
    MutableBytes into;
  };
  const container::Reader& reader_;
  std::vector<Piece> wanted_;
};

class Loader {
 public:
  Loader(const container::Reader& reader, Vocabulary& vocabulary, const LoadOptions& options)
      : reader_(reader), vocabulary_(vocabulary), options_(options), pieces_(reader) {}

  Result<LoadedSnapshot> load() {
    if (reader_.header().kind != snapshot::kFileKind) return damaged("another kind of container");
    for (const auto step : {&Loader::load_manifest, &Loader::load_symbols, &Loader::plan_segments,
                            &Loader::finish_segments}) {
      if (Status done = (this->*step)(); !done) return done.error();
    }
    const auto damaged_commits = has_damaged_commits();
    if (!damaged_commits) return damaged_commits.error();
    loaded_.is_damaged = *damaged_commits;
    return std::move(loaded_);
  }

 private:
  struct PendingSegment {
    uint64_t number;
    uint32_t patterns;
    StableSegment::Columns columns;
    std::vector<NameDigest> name_slots;
    std::vector<uint64_t> own_names;
    std::vector<char> name_pool;
    std::vector<char> emotives;
    SymbolCounts counts;
    struct Changed {
      uint32_t place;
      uint32_t frequency;
      EmotiveList emotives;
    };
    std::vector<Changed> changed;
  };

  // What a crash left behind the last commit is none.
  Result<bool> has_damaged_commits() const {
    if (reader_.state() == container::IndexState::committed) return false;
    if (reader_.committed_end() == reader_.source().size()) return true;  // their list
    return container::has_commit_behind(reader_.source(), reader_.committed_end());
  }

  Error damaged(std::string_view what) const {
    return fail(ErrorCode::corrupt,
                fmt::format("damaged snapshot ({}: {})", reader_.source().name(), what));
  }

  Status load_manifest() {
    const Block* latest = nullptr;
    for (const Block& block : reader_.blocks()) {
      if (block.kind == snapshot::kSegment) {
        loaded_.next_segment = std::max(loaded_.next_segment, (block.id >> 24) + 1);
      }
      if (block.kind != snapshot::kManifest) continue;
      if (latest == nullptr || block.id > latest->id) latest = &block;
    }
    if (latest == nullptr) return damaged("no manifest");
    Result<container::BlockBytes> bytes = reader_.read(*latest);
    if (!bytes) return bytes.error();
    loaded_.contents.exists = true;
    loaded_.contents.generation = (latest->id & ~snapshot::kManifestId) + 1;
    Decoder decoder(text_of(*bytes));
    const uint64_t format = decoder.varint();
    if (decoder.ok() && format != snapshot::kFormat) {
      return fail(ErrorCode::unsupported,
                  fmt::format("a snapshot of format {} ({}): this Hoist reads {}", format,
                              reader_.source().name(), snapshot::kFormat));
    }
    parse_manifest(decoder);
    if (!decoder.done()) return damaged("manifest");
    return {};
  }

  void parse_manifest(Decoder& decoder) {
    loaded_.settings.sort = decoder.varint() != 0;
    loaded_.settings.persistence = decoder.varint32();
    loaded_.position.serial = decoder.varint32();
    loaded_.position.change = decoder.varint();
    for (size_t left = decoder.count(1); left > 0; --left) {
      loaded_.contents.symbol_blocks[decoder.varint32()] = 0;
    }
    loaded_.contents.symbols = decoder.varint32();
    pending_.resize(decoder.count(3));
    for (PendingSegment& segment : pending_) {
      segment.number = decoder.varint();
      if (segment.number > snapshot::kMaxSegment) decoder.refuse();
      segment.patterns = decoder.varint32();
      segment.changed.resize(decoder.count(3));
      for (auto& changed : segment.changed) {
        changed.place = decoder.varint32();
        changed.frequency = decoder.varint32();
        changed.emotives = decode_emotives(decoder);
        if (changed.place >= segment.patterns) decoder.refuse();
      }
      if (!decoder.ok()) return;
    }
  }

  Status load_symbols() {
    for (auto& [first, size] : loaded_.contents.symbol_blocks) {
      const Block* const block = reader_.find(snapshot::kSymbolsId | first);
      if (block == nullptr || first != vocabulary_.size()) return damaged("symbols are missing");
      Result<container::BlockBytes> bytes = reader_.read(*block);
      if (!bytes) return bytes.error();
      size = bytes->size();
      Decoder decoder(text_of(*bytes));
      while (decoder.ok() && decoder.remaining() > 0) {
        const uint32_t id = vocabulary_.size();
        const std::string_view symbol = decoder.text();
        if (id >= Vocabulary::kMaxSymbols || (decoder.ok() && vocabulary_.add(symbol) != id)) {
          return damaged("a symbol twice");
        }
      }
      if (!decoder.ok()) return damaged("symbols");
    }
    if (vocabulary_.size() != loaded_.contents.symbols) return damaged("symbols are missing");
    return {};
  }

  // Room for a column, of which the pieces in the file say how large it is.
  template <typename Column>
  bool plan(PendingSegment& segment, Part part, Column& column) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(column.data())>>;
    std::vector<const Block*> found;
    uint64_t size = 0;
    for (uint64_t piece = 0; piece < 1 << 16; ++piece) {
      const Block* const block = reader_.find(snapshot::piece_id(segment.number, part, piece));
      if (block == nullptr) break;
      found.push_back(block);
      size += block->raw_size;
    }
    bytes_ += size;
    loaded_.contents.segments[segment.number] += size;
    if (bytes_ > options_.max_memory || size % sizeof(T) != 0) return size % sizeof(T) == 0;
    column = Column(size / sizeof(T));
    auto* at = reinterpret_cast<std::byte*>(column.data());
    for (const Block* const block : found) {
      if (block->codec != 0) return false;
      pieces_.add(segment.number, *block, {at, block->raw_size});
      at += block->raw_size;
    }
    return true;
  }

  Status plan_segments() {
    for (PendingSegment& segment : pending_) {
      StableSegment::Columns& c = segment.columns;
      if (loaded_.contents.segments.count(segment.number) != 0) return damaged("a segment twice");
      const bool good = plan(segment, Part::buckets, c.symbols.buckets) &&
                        plan(segment, Part::dense_symbols, c.symbols.dense_symbols) &&
                        plan(segment, Part::symbols16, c.symbols.symbols16) &&
                        plan(segment, Part::symbols32, c.symbols.symbols32) &&
                        plan(segment, Part::name_ranks, c.symbols.name_ranks) &&
                        plan(segment, Part::name_slots, segment.name_slots) &&
                        plan(segment, Part::own_names, segment.own_names) &&
                        plan(segment, Part::name_pool, segment.name_pool) &&
                        plan(segment, Part::serials, c.serials) &&
                        plan(segment, Part::shapes, c.shapes) &&
                        plan(segment, Part::shape_pool, c.shape_pool) &&
                        plan(segment, Part::frequencies, c.frequencies) &&
                        plan(segment, Part::patterns_with, segment.counts.patterns_with) &&
                        plan(segment, Part::occurrences, segment.counts.occurrences) &&
                        plan(segment, Part::emotives, segment.emotives);
      if (!good && !options_.skip_damaged) return damaged("a column of a segment");
      if (!good) damaged_.insert(segment.number);
    }
    if (bytes_ <= options_.max_memory) {
      Status read = pieces_.read(damaged_);
      return read || options_.skip_damaged ? Status() : read;
    }
    uint64_t patterns = 0;
    for (const PendingSegment& segment : pending_) patterns += segment.patterns;
    return fail(ErrorCode::exhausted,
                fmt::format("an index of {} patterns needs {} of memory ({}): {} would hold "
                            "about {} patterns",
                            patterns, bytes_text(bytes_), reader_.source().name(),
                            bytes_text(options_.max_memory),
                            static_cast<uint64_t>(static_cast<double>(patterns) *
                                                  static_cast<double>(options_.max_memory) /
                                                  static_cast<double>(bytes_))));
  }

  Status finish_segments() {
    for (PendingSegment& segment : pending_) {
      Status finished =
          damaged_.contains(segment.number) ? Status(damaged("a segment")) : finish(segment);
      if (!finished && !options_.skip_damaged) return finished;
      if (!finished) loaded_.lost_patterns += segment.patterns;
    }
    return {};
  }

  Status finish(PendingSegment& segment) {
    auto names = PatternNames::from_columns(
        std::move(segment.name_slots), std::move(segment.own_names), std::move(segment.name_pool));
    if (!names) return damaged(names.error().message);
    segment.columns.names = std::move(*names);
    if (Status good = check_columns(segment.columns, vocabulary_.size()); !good) {
      return damaged(good.error().message);
    }
    if (segment.columns.serials.size() != segment.patterns) return damaged("a segment's size");
    if (!count_symbols(segment)) return damaged("counts of symbols");
    auto stable = std::make_shared<StableSegment>(segment.number, std::move(segment.columns));
    Decoder decoder({segment.emotives.data(), segment.emotives.size()});
    while (decoder.ok() && decoder.remaining() > 0) {
      const uint32_t place = decoder.varint32();
      auto list = std::make_shared<EmotiveList>(decode_emotives(decoder));
      if (place >= segment.patterns) decoder.refuse();
      if (decoder.ok()) stable->begin_with_emotives(place, std::move(list));
    }
    if (!decoder.ok()) return damaged("emotives");
    for (auto& changed : segment.changed) {
      count_change(*stable, changed.place, changed.frequency);
      stable->set_frequency(changed.place, changed.frequency);
      if (changed.emotives.empty()) continue;
      stable->set_emotives(changed.place,
                           std::make_shared<EmotiveList>(std::move(changed.emotives)));
    }
    loaded_.next_segment = std::max(loaded_.next_segment, segment.number + 1);
    loaded_.segments.push_back(std::move(stable));
    return {};
  }

  bool count_symbols(const PendingSegment& segment) {
    const auto& symbols = segment.columns.symbols.dense_symbols;
    const SymbolCounts& counts = segment.counts;
    if (counts.patterns_with.size() != symbols.size() ||
        counts.occurrences.size() != symbols.size()) {
      return false;
    }
    for (size_t i = 0; i < symbols.size(); ++i) {
      vocabulary_.add_patterns_with(symbols[i], static_cast<int32_t>(counts.patterns_with[i]));
      vocabulary_.add_occurrences(symbols[i], static_cast<int64_t>(counts.occurrences[i]));
    }
    return true;
  }

  // The counts are those of the frequencies that lie beside them.
  void count_change(const StableSegment& segment, uint32_t place, uint32_t frequency) {
    std::vector<uint32_t> symbols;
    segment.read_symbols(place, symbols);
    vocabulary_.recount(symbols, segment.frequency(place), frequency);
  }

  const container::Reader& reader_;
  Vocabulary& vocabulary_;
  const LoadOptions& options_;
  Pieces pieces_;
  LoadedSnapshot loaded_;
  std::vector<PendingSegment> pending_;
  std::set<uint64_t> damaged_;  // segments
  uint64_t bytes_ = 0;
};

}  // namespace

Result<LoadedSnapshot> load_snapshot(std::unique_ptr<container::Source> source,
                                     Vocabulary& vocabulary, const LoadOptions& options) {
  // The file's own size is limit enough for its parts.
  const container::Limits limits{.index = source->size(), .block = source->size()};
  const auto reader = container::Reader::open(std::move(source), {.limits = limits});
  if (!reader) return reader.error();
  return Loader(*reader, vocabulary, options).load();
}

Result<LoadedSnapshot> load_snapshot(const std::string& path, Vocabulary& vocabulary,
                                     const LoadOptions& options) {
  auto source = container::open_file_source(path);
  if (!source) return source.error();
  return load_snapshot(std::move(*source), vocabulary, options);
}

}  // namespace hoist::match
