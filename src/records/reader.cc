#include "records/reader.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

#include "base/nearest_word.h"
#include "container/index.h"
#include "container/moved_frames.h"
#include "records/file_format.h"
#include "records/limits.h"

namespace hoist::records {
namespace {

// Whether a commit behind `offset` lies elsewhere than where it was written: then bytes came into
// the file or went from it.
Result<bool> has_moved_commit_behind(const container::Source& source, uint64_t offset) {
  container::Survey tail;  // nothing in front is looked at
  container::SurveyedFrame front;
  front.stored_size = offset - container::kFrameHeaderSize;
  front.intact = true;
  tail.frames.push_back(front);
  const auto moved = container::find_moved_frames(source, tail, {});
  if (!moved) return moved.error();
  return std::any_of(moved->begin(), moved->end(), [](const container::Frame& frame) {
    return frame.section == container::Section::commit;
  });
}

// The names of columns that may have been meant.
Error no_column(const std::string& path, const std::vector<std::string>& paths,
                const std::string& file) {
  std::vector<std::string> names = paths;
  for (std::string& name : names) {
    if (name.starts_with('/') && !path.starts_with('/')) name.erase(0, 1);
  }
  const std::string nearest = nearest_word(path, names);
  std::string mend = names.empty() ? "it has none" : "`hoist records info` lists the columns";
  if (!nearest.empty()) mend = "did you mean " + nearest + "?";
  return fail(ErrorCode::not_found, "no column " + path + " (" + file + "): " + mend);
}

}  // namespace

Result<RecordReader> RecordReader::open(const std::string& path, const OpenOptions& options) {
  // A writer that begins to append cuts off what another one left unfinished: what is amiss then is
  // looked at again.
  constexpr std::chrono::milliseconds kLongestPause{64};
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (std::chrono::milliseconds pause{1};; pause = std::min(2 * pause, kLongestPause)) {
    Result<std::unique_ptr<container::Source>> source = container::open_file_source(path);
    if (!source) return source.error();
    const uint64_t size = (*source)->size();
    Result<RecordReader> reader = open(std::move(*source), options);
    if (reader && reader->check_whole()) return reader;
    std::error_code unknown;
    if (std::filesystem::file_size(path, unknown) == size || unknown) return reader;
    if (std::chrono::steady_clock::now() >= end) return reader;
    std::this_thread::sleep_for(pause);
  }
}

Result<RecordReader> RecordReader::open(std::unique_ptr<container::Source> source,
                                        const OpenOptions& options) {
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
  if (Status status = reader.check_state(); !status) return status.error();
  if (Status status = reader.check_blocks(options.partial); !status) return status.error();
  if (!reader.whole_ && !options.partial) return reader.whole_.error();
  return reader;
}

Error RecordReader::damaged(std::string_view what) const {
  return fail(ErrorCode::corrupt, std::string(what) + " (" + name() +
                                      "): `hoist records repair` saves the rows that are whole");
}

// Tells an unfinished tail, which costs no row, from damage, as appending does.
Status RecordReader::check_state() {
  if (reader_->state() == container::IndexState::committed) return {};
  if (reader_->state() == container::IndexState::uncommitted) {
    whole_ = damaged("the file was not finished, or its end is lost");
    return {};
  }
  const uint64_t end = reader_->committed_end();
  unfinished_bytes_ = file_size() - end;
  is_index_rebuilt_ = unfinished_bytes_ == 0;
  const Result<bool> commit = container::has_commit_behind(reader_->source(), end);
  if (!commit) return commit.error();
  const Result<bool> moved = *commit ? true : has_moved_commit_behind(reader_->source(), end);
  if (!moved) return moved.error();
  if (*moved) whole_ = damaged("the file is damaged, and rows of it are lost");
  return {};
}

Status RecordReader::check_blocks(bool partial) {
  const std::span<const container::Block> blocks = reader_->blocks();
  blocks_ = blocks.size();
  for (size_t i = 0; i < blocks_; ++i) {
    if (blocks[i].kind != kBlockKind || blocks[i].codec != kBlockCodec) {
      return fail(ErrorCode::unsupported, "the file has blocks of an unknown kind (" + name() +
                                              "): use a newer version of Hoist");
    }
    const bool follows =
        i == 0 ? blocks[i].id == 0
               : blocks[i].id > blocks[i - 1].id && blocks[i].id - blocks[i - 1].id <= kMaxRows;
    if (follows) continue;
    blocks_ = i;
    whole_ = damaged("rows of the file are lost: those that are there do not follow one another");
  }
  return count_rows(partial);
}

Status RecordReader::count_rows(bool partial) {
  // The last block alone knows how many rows it has.
  for (; blocks_ > 0; --blocks_) {
    const Result<LoadedBlock> last = load(blocks_ - 1);
    if (last) {
      rows_ = blocks().back().id + last->block().rows();
      ends_with_newline_ = last->block().ends_with_newline();
      break;
    }
    if (!partial || last.error().code != ErrorCode::corrupt) return last.error();
    whole_ = last.error();
  }
  for (const container::Block& block : blocks()) text_bytes_ += block.raw_size;
  return {};
}

uint64_t RecordReader::end_of(size_t block) const {
  return block + 1 < blocks().size() ? blocks()[block + 1].id : rows_;
}

Result<LoadedBlock> RecordReader::load(size_t block) const {
  Result<LoadedBlock> loaded = load_alone(block);
  if (!loaded) return loaded;
  if (Status next = check_next(block, loaded->block()); !next) return next.error();
  return loaded;
}

Status RecordReader::check_next(size_t block, const Block& loaded) const {
  const bool is_last = block + 1 == blocks().size();
  if (is_last || loaded.rows() == blocks()[block + 1].id - blocks()[block].id) return {};
  return damaged("rows of the file are lost: those that are there do not follow one another");
}

Result<LoadedBlock> RecordReader::load_alone(size_t block) const {
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
  return LoadedBlock(std::move(*stored), std::move(*opened));
}

Result<RecordReader::Piece> RecordReader::piece_of(size_t number,
                                                   const ReadOptions& options) const {
  const Result<LoadedBlock> loaded = load_alone(number);
  if (!loaded) return loaded.error();
  const Block& block = loaded->block();
  const uint64_t id = blocks()[number].id;
  const size_t first = options.first > id ? options.first - id : 0;
  const size_t end = std::min<uint64_t>(options.end - id, block.rows());
  Piece piece{.text = {}, .behind = check_next(number, block)};
  if (options.end <= id + block.rows()) piece.behind = {};
  const auto with = [&](Result<std::string> text) -> Result<Piece> {
    if (!text) return text.error();
    piece.text = std::move(*text);
    return std::move(piece);
  };
  if (options.where.empty()) return with(block.text(first, end));
  std::vector<bool> keep(block.rows());
  for (size_t row = first; row < end; ++row) keep[row] = true;
  for (const Condition& condition : options.where) {
    if (Status status = apply(condition, block, keep); !status) return status.error();
  }
  if (std::find(keep.begin(), keep.end(), true) == keep.end()) return piece;
  return with(block.text(keep));
}

Status RecordReader::check_columns(std::span<const Condition> conditions) const {
  std::vector<std::string> paths;
  std::vector<const Condition*> unknown;
  for (const Condition& condition : conditions) unknown.push_back(&condition);
  for (size_t i = 0; i < blocks().size() && !unknown.empty(); ++i) {
    const Result<LoadedBlock> loaded = load_alone(i);
    if (!loaded) return loaded.error();
    for (const BlockColumn& column : loaded->block().columns()) {
      if (column.kind == ColumnKind::length) continue;
      std::erase_if(unknown, [&](const Condition* condition) {
        return is_path(condition->path, column.path);
      });
      if (std::find(paths.begin(), paths.end(), column.path) == paths.end()) {
        paths.push_back(column.path);
      }
    }
  }
  if (unknown.empty() || blocks().empty()) return {};
  return no_column(unknown[0]->path, paths, name());
}

Status RecordReader::text(const ReadOptions& options, const WriteText& write) const {
  if (Status status = check_columns(options.where); !status) return status;
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
  std::vector<std::optional<Result<Piece>>> pieces(batch);
  for (size_t at = 0; at < wanted.size(); at += batch) {
    const size_t count = std::min(batch, wanted.size() - at);
    pool.parallel_for(count, [&](size_t i) { pieces[i] = piece_of(wanted[at + i], options); });
    for (size_t i = 0; i < count; ++i) {
      const Result<Piece>& piece = *pieces[i];
      if (!piece) return piece.error();
      if (Status status = write(piece->text); !status) return status;
      if (!piece->behind) return piece->behind;
      done += blocks()[wanted[at + i]].raw_size;
      if (options.progress) options.progress(done, total);
    }
  }
  return options.end > rows_ ? whole_ : Status();
}

}  // namespace hoist::records
