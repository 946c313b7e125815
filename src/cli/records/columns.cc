#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "base/output_file.h"
#include "cli/output_rule.h"
#include "cli/records/arrow.h"
#include "cli/records/commands.h"
#include "cli/records/npz_writer.h"
#include "cli/records/state.h"
#include "cli/report.h"
#include "records/reader.h"
#include "records/values.h"

namespace hoist::cli {
namespace {

using namespace hoist::records;

// A column over all blocks, as much as must be known before its first array is written.
struct Selected {
  std::string name;
  ValueType type = ValueType::integer;
  uint64_t values = 0;
  uint64_t text_bytes = 0;
  bool dense = true;  // each row has one value
};

using TakeValues = std::function<Status(uint64_t first_row, const ColumnValues& values)>;

// All columns of the name, block by block.
Status for_blocks(const RecordReader& reader, const std::string& name, const TakeValues& take) {
  for (size_t i = 0; i < reader.blocks().size(); ++i) {
    const Result<LoadedBlock> loaded = reader.load(i);
    if (!loaded) return loaded.error();
    const Block& block = loaded->block();
    for (size_t c = 0; c < block.columns().size(); ++c) {
      const BlockColumn& column = block.columns()[c];
      if (column.kind == ColumnKind::length || !is_path(name, column.path)) continue;
      const Result<ColumnValues> values = block.read(c);
      if (!values) return values.error();
      if (Status status = take(reader.blocks()[i].id, *values); !status) return status;
    }
  }
  return {};
}

Result<Selected> select(const RecordReader& reader, const std::string& name) {
  Selected selected{.name = name};
  uint64_t next = 0;
  const Status status = for_blocks(reader, name, [&](uint64_t first, const ColumnValues& values) {
    selected.type = std::max(selected.type, value_type(*values.column));
    selected.values += values.rows.size();
    selected.text_bytes += texts(*values.column).bytes.size();
    for (const uint32_t row : values.rows) selected.dense &= first + row == next++;
    return Status();
  });
  if (!status) return status.error();
  selected.dense &= next == reader.rows();
  if (selected.values == 0) {
    return fail(ErrorCode::not_found,
                fmt::format("no column {} ({}): `hoist records info` lists the columns", name,
                            reader.name()));
  }
  return selected;
}

template <typename T>
void append(NpzWriter& out, const std::vector<T>& values) {
  out.append(std::as_bytes(std::span(values)));
}

Status write_values(const RecordReader& reader, const Selected& column, NpzWriter& out) {
  const bool is_integer = column.type == ValueType::integer;
  out.begin(column.name, is_integer ? "<i8" : "<f8", column.values);
  const Status status = for_blocks(
      reader, column.name, [&](uint64_t /*first*/, const ColumnValues& values) -> Status {
        if (!is_integer) {
          append(out, reals(*values.column));
          return {};
        }
        const Result<std::vector<int64_t>> numbers = integers(*values.column);
        if (!numbers) return numbers.error();
        append(out, *numbers);
        return {};
      });
  out.end();
  return status;
}

Status write_texts(const RecordReader& reader, const Selected& column, NpzWriter& out) {
  out.begin(column.name + ".bytes", "|u1", column.text_bytes);
  Status status =
      for_blocks(reader, column.name, [&](uint64_t /*first*/, const ColumnValues& values) {
        append(out, texts(*values.column).bytes);
        return Status();
      });
  out.end();
  if (!status) return status;
  out.begin(column.name + ".offsets", "<u8", column.values + 1);
  append(out, std::vector<uint64_t>{0});
  uint64_t before = 0;
  status = for_blocks(reader, column.name, [&](uint64_t /*first*/, const ColumnValues& values) {
    std::vector<uint64_t> offsets = texts(*values.column).offsets;
    for (uint64_t& offset : offsets) offset += before;
    before = offsets.back();
    offsets.erase(offsets.begin());
    append(out, offsets);
    return Status();
  });
  out.end();
  return status;
}

Status write_rows(const RecordReader& reader, const Selected& column, NpzWriter& out) {
  out.begin(column.name + ".rows", "<i8", column.values);
  const Status status =
      for_blocks(reader, column.name, [&](uint64_t first, const ColumnValues& values) {
        std::vector<int64_t> rows(values.rows.begin(), values.rows.end());
        for (int64_t& row : rows) row += static_cast<int64_t>(first);
        append(out, rows);
        return Status();
      });
  out.end();
  return status;
}

std::vector<std::string> arrays_of(const Selected& column) {
  std::vector<std::string> names;
  if (column.type == ValueType::text) {
    names = {column.name + ".bytes", column.name + ".offsets"};
  } else {
    names = {column.name};
  }
  if (!column.dense) names.push_back(column.name + ".rows");
  return names;
}

// Columns may be called as the arrays of others are.
Status check_names(const std::vector<Selected>& columns) {
  std::map<std::string, std::string> seen;
  for (const Selected& column : columns) {
    for (const std::string& name : arrays_of(column)) {
      const auto [other, is_new] = seen.emplace(name, column.name);
      if (is_new) continue;
      return fail(ErrorCode::invalid_argument,
                  fmt::format("the columns {} and {} both have an array {}: write them into two "
                              "files",
                              other->second, column.name, name));
    }
  }
  return {};
}

// Names with commas between them; one that has a comma stands between double quotes.
Result<std::vector<std::string>> parse_names(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    std::string_view rest = list;
    for (;;) {
      const std::optional<WrittenPath> path = read_path(rest, ",");
      if (!path) {
        return fail(ErrorCode::invalid_argument,
                    fmt::format("no names of columns (--select {}): a quote is open, or something "
                                "follows it",
                                list));
      }
      if (std::find(names.begin(), names.end(), path->path) == names.end()) {
        names.push_back(path->path);
      }
      rest.remove_prefix(path->size);
      if (rest.empty()) break;
      rest.remove_prefix(1);
    }
  }
  return names;
}

Status write_columns(const ColumnsOptions& options) {
  const Result<std::vector<std::string>> names = parse_names(options.select);
  if (!names) return names.error();
  const Result<RecordReader> reader = RecordReader::open(options.file);
  if (!reader) return reader.error();
  warn_of_state(*reader);
  // What goes on to a pipe can only be Arrow: NumPy's arrays need a file.
  if (is_arrow(options.to, options.output) || options.output == "-") {
    return write_arrow(*reader, {.names = *names, .decimals = !options.floats}, options.output,
                       options.force);
  }
  if (names->empty()) {
    return fail(ErrorCode::invalid_argument,
                "no columns: name those that NumPy shall have with --select");
  }
  Result<OutputFile> file =
      OutputFile::create(options.output, output_rule(options.force, {options.file}));
  if (!file) return file.error();
  std::vector<Selected> columns;
  for (const std::string& name : *names) {
    Result<Selected> column = select(*reader, name);
    if (!column) return column.error();
    columns.push_back(std::move(*column));
  }
  if (!file->is_pending()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("arrays need a file ({}): name one", options.output));
  }
  if (Status unique = check_names(columns); !unique) return unique;
  NpzWriter out(file->fd(), options.output);
  for (const Selected& column : columns) {
    Status status = column.type == ValueType::text ? write_texts(*reader, column, out)
                                                   : write_values(*reader, column, out);
    if (status && !column.dense) status = write_rows(*reader, column, out);
    if (!status) return status;
  }
  if (Status status = out.finish(); !status) return status;
  return file->publish();
}

}  // namespace

int columns_command(const ColumnsOptions& options) {
  const Status written = write_columns(options);
  return written ? kDone : report(written.error());
}

}  // namespace hoist::cli
