#include "records/reader.h"

#include <algorithm>

#include "container/foreign.h"
#include "records/file_format.h"
#include "records/limits.h"

namespace hoist::records {

Result<RecordReader> RecordReader::open(const std::string& path) {
  Result<std::unique_ptr<container::Source>> source = container::open_file_source(path);
  if (!source) return source.error();
  return open(std::move(*source));
}

Result<RecordReader> RecordReader::open(std::unique_ptr<container::Source> source) {
  Result<container::Reader> container = container::Reader::open(std::move(source));
  if (!container) return container.error();
  RecordReader reader(std::move(*container));
  if (reader.reader_->header().kind != kFileKind) {
    return fail(ErrorCode::corrupt, "a container that holds no records (" + reader.name() +
                                        "): `hoist container info` says what it holds");
  }
  Result<Dialect> dialect = decode_dialect(reader.reader_->metadata());
  if (!dialect) return dialect.error();
  reader.dialect_ = std::move(*dialect);
  if (Status status = reader.check_blocks(); !status) return status.error();
  return reader;
}

Status RecordReader::check_blocks() {
  const std::span<const container::Block> blocks = this->blocks();
  const auto damaged = [&] {
    return fail(ErrorCode::corrupt, "the rows of the file do not follow one another (" + name() +
                                        "): `hoist container repair` saves what is intact");
  };
  if (!blocks.empty() && blocks[0].id != 0) return damaged();
  for (size_t i = 0; i < blocks.size(); ++i) {
    const container::Block& block = blocks[i];
    if (block.kind != kBlockKind || block.codec != kBlockCodec) {
      return fail(ErrorCode::unsupported, "the file has blocks of an unknown kind (" + name() +
                                              "): use a newer version of Hoist");
    }
    if (i + 1 < blocks.size() &&
        (blocks[i + 1].id <= block.id || blocks[i + 1].id - block.id > kMaxRows)) {
      return damaged();
    }
    text_bytes_ += block.raw_size;
  }
  if (blocks.empty()) return {};
  // The last block alone knows how many rows it has.
  const Result<LoadedBlock> last = load(blocks.size() - 1);
  if (!last) return last.error();
  rows_ = blocks.back().id + last->block().rows();
  ends_with_newline_ = last->block().ends_with_newline();
  return {};
}

uint64_t RecordReader::end_of(size_t block) const {
  return block + 1 < blocks().size() ? blocks()[block + 1].id : rows_;
}

Result<LoadedBlock> RecordReader::load(size_t block) const {
  if (block >= blocks().size()) {
    return fail(ErrorCode::invalid_argument, "the file has no such block");
  }
  const container::Block& place = blocks()[block];
  Result<container::BlockBytes> stored = reader_->read(place);
  if (!stored) return stored.error();
  Result<Block> opened = Block::open(*stored, place.raw_size);
  if (!opened) {
    opened.error().message += " (" + name() + "): `hoist records verify` tells which";
    return opened.error();
  }
  const bool is_last = block + 1 == blocks().size();
  if (!is_last && opened->rows() != blocks()[block + 1].id - place.id) {
    return fail(ErrorCode::corrupt, "a block has another number of rows than the index says (" +
                                        name() + "): get the file again");
  }
  return LoadedBlock(std::move(*stored), std::move(*opened));
}

Result<std::string> RecordReader::text_of(size_t number, const ReadOptions& options) const {
  const Result<LoadedBlock> loaded = load(number);
  if (!loaded) return loaded.error();
  const Block& block = loaded->block();
  const uint64_t id = blocks()[number].id;
  const size_t first = options.first > id ? options.first - id : 0;
  const size_t end = std::min<uint64_t>(options.end - id, block.rows());
  if (options.where.empty()) return block.text(first, end);
  std::vector<bool> keep(block.rows());
  for (size_t row = first; row < end; ++row) keep[row] = true;
  for (const Condition& condition : options.where) {
    if (Status status = apply(condition, block, keep); !status) return status.error();
  }
  if (std::find(keep.begin(), keep.end(), true) == keep.end()) return std::string();
  return block.text(keep);
}

Status RecordReader::text(const ReadOptions& options, const WriteText& write) const {
  ThreadPool& pool = options.pool != nullptr ? *options.pool : ThreadPool::process();
  std::vector<size_t> wanted;
  uint64_t total = 0;
  for (size_t i = 0; i < blocks().size(); ++i) {
    if (blocks()[i].id >= options.end || end_of(i) <= options.first) continue;
    wanted.push_back(i);
    total += blocks()[i].raw_size;
  }
  uint64_t done = 0;
  const auto batch = static_cast<size_t>(pool.size());
  std::vector<std::optional<Result<std::string>>> texts(batch);
  for (size_t at = 0; at < wanted.size(); at += batch) {
    const size_t count = std::min(batch, wanted.size() - at);
    pool.parallel_for(count, [&](size_t i) { texts[i] = text_of(wanted[at + i], options); });
    for (size_t i = 0; i < count; ++i) {
      if (!*texts[i]) return texts[i]->error();
      if (Status status = write(**texts[i]); !status) return status;
      done += blocks()[wanted[at + i]].raw_size;
      if (options.progress) options.progress(done, total);
    }
  }
  return {};
}

}  // namespace hoist::records
