#include "records/arrow/arrow_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "records/arrow/arrow_batch.h"
#include "records/arrow/arrow_message.h"
#include "records/typed/scalars.h"

namespace hoist::records::arrow {
namespace {

using typed::ColumnType;
using typed::SelectedBlock;
using typed::Selection;

Result<Selection> select(const RecordReader& reader, const ArrowOptions& options) {
  Result<std::vector<ColumnType>> types =
      typed::column_types(reader, std::stop_token(), {.exact = true, .decimals = options.decimals});
  if (!types) return types.error();
  Selection selection{.columns = {},
                      .first = options.rows.first,
                      .end = options.rows.end,
                      .where = options.rows.where};
  if (options.names.empty()) selection.columns = std::move(*types);
  for (const std::string& name : options.names) {
    const auto found = std::find_if(types->begin(), types->end(), [&](const ColumnType& type) {
      return is_path(name, type.path);
    });
    if (found == types->end()) {
      return fail(ErrorCode::not_found,
                  fmt::format("no column {} ({}): `hoist records info` lists the columns", name,
                              reader.name()));
    }
    selection.columns.push_back(*found);
  }
  const bool has_rows = reader.rows() > typed::header_rows(reader);
  if (selection.columns.empty() && has_rows) {
    return fail(ErrorCode::unsupported, fmt::format("the file has no columns ({})", reader.name()));
  }
  return selection;
}

class Output {
 public:
  Output(const Selection& selection, bool as_file, const WriteText& write)
      : columns_(selection.columns), as_file_(as_file), write_(write) {}

  Status begin() {
    Status status = as_file_ ? put(kFileBegin) : Status();
    if (status) status = put(schema_message(columns_));
    for (size_t i = 0; status && i < columns_.size(); ++i) {
      if (columns_[i].dictionary == nullptr) continue;
      const Batch batch = make_dictionary(*columns_[i].dictionary);
      status = put(dictionary_message(batch, static_cast<int64_t>(i)), batch, dictionaries_);
    }
    return status;
  }

  Status add(const SelectedBlock& block) {
    if (block.rows == 0) return {};
    const Batch batch = make_batch(block, columns_);
    return put(batch_message(batch), batch, batches_);
  }

  Status end() {
    if (Status status = put(kStreamEnd); !status || !as_file_) return status;
    return put(footer(columns_, dictionaries_, batches_));
  }

 private:
  Status put(std::string_view bytes) {
    written_ += static_cast<int64_t>(bytes.size());
    return write_(bytes);
  }
  Status put(const std::string& metadata, const Batch& batch, std::vector<Place>& places) {
    places.push_back(
        {written_, static_cast<int32_t>(metadata.size()), static_cast<int64_t>(batch.body.size())});
    if (Status status = put(metadata); !status) return status;
    return put(batch.body);
  }

  const std::vector<ColumnType>& columns_;
  bool as_file_;
  const WriteText& write_;
  int64_t written_ = 0;
  std::vector<Place> dictionaries_;
  std::vector<Place> batches_;
};

}  // namespace

Status write_arrow(const RecordReader& reader, const ArrowOptions& options,
                   const WriteText& write) {
  const Result<Selection> selection = select(reader, options);
  if (!selection) return selection.error();
  ThreadPool& pool = options.rows.pool != nullptr ? *options.rows.pool : ThreadPool::process();
  Output output(*selection, options.as_file, write);
  if (Status begun = output.begin(); !begun) return begun;
  const std::vector<size_t> blocks = typed::blocks_of(reader, *selection);
  uint64_t total = 0;
  for (const size_t block : blocks) total += reader.blocks()[block].raw_size;
  uint64_t done = 0;
  const auto batch = static_cast<size_t>(pool.size());
  for (size_t at = 0; at < blocks.size(); at += batch) {
    const size_t count = std::min(batch, blocks.size() - at);
    std::vector<Result<SelectedBlock>> found(count, SelectedBlock());
    pool.parallel_for(
        count, [&](size_t i) { found[i] = typed::read_block(reader, blocks[at + i], *selection); });
    for (size_t i = 0; i < count; ++i) {
      if (!found[i]) return found[i].error();
      if (Status added = output.add(*found[i]); !added) return added;
      done += reader.blocks()[blocks[at + i]].raw_size;
      if (options.rows.progress) options.rows.progress(done, total);
    }
  }
  return output.end();
}

}  // namespace hoist::records::arrow
