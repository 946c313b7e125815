#include "records/arrow/arrow_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "arrow/writer.h"
#include "records/arrow/arrow_batch.h"
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

Status add_dictionaries(hoist::arrow::Writer& writer, const std::vector<ColumnType>& columns) {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].dictionary == nullptr) continue;
    const Batch entries = make_dictionary(*columns[i].dictionary);
    if (Status added = writer.add_dictionary(entries, static_cast<int64_t>(i)); !added) {
      return added;
    }
  }
  return {};
}

}  // namespace

Status write_arrow(const RecordReader& reader, const ArrowOptions& options,
                   const WriteText& write) {
  const Result<Selection> selection = select(reader, options);
  if (!selection) return selection.error();
  ThreadPool& pool = options.rows.pool != nullptr ? *options.rows.pool : ThreadPool::process();
  hoist::arrow::Writer output(fields_of(selection->columns), options.as_file, write);
  if (Status begun = output.begin(); !begun) return begun;
  if (Status added = add_dictionaries(output, selection->columns); !added) return added;
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
      if (found[i]->rows > 0) {
        const Batch made = make_batch(*found[i], selection->columns);
        if (Status added = output.add(made); !added) return added;
      }
      done += reader.blocks()[blocks[at + i]].raw_size;
      if (options.rows.progress) options.rows.progress(done, total);
    }
  }
  return output.end();
}

}  // namespace hoist::records::arrow
