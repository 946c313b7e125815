#include "records/typed/typed_values.h"

#include <algorithm>
#include <deque>
#include <limits>

#include "records/typed/plain_text.h"
#include "records/typed/scalars.h"
#include "records/values.h"

namespace hoist::records::typed {
namespace {

constexpr int64_t kExactDouble = int64_t{1} << 53;

// A value of a column in one of the types.
struct Value {
  bool valid = false;
  int64_t integer = 0;
  double real = 0;
  std::string_view text = {};
  Int128 decimal = 0;
};

// The values of a column of a block, each with its row.
class Part {
 public:
  Part(ColumnValues values, const ColumnType& type, Format format, ColumnKind kind)
      : values_(std::move(values)), type_(type), format_(format), kind_(kind) {
    read();
  }

  const std::vector<uint32_t>& rows() const { return values_.rows; }
  const std::vector<Value>& values() const { return result_; }

 private:
  void read() {
    const DecodedColumn& column = *values_.column;
    result_.reserve(column.count);
    if (column.type == records::ColumnType::numbers && column.texts.strings.empty() &&
        read_numbers(column)) {
      return;
    }
    if (column.type == records::ColumnType::dictionary) {
      std::vector<Value> entries;
      for (const std::string_view text : column.texts.strings) entries.push_back(value_of(text));
      for (const int64_t code : column.codes) {
        result_.push_back(entries[static_cast<size_t>(code)]);
      }
    } else if (column.type == records::ColumnType::constant) {
      result_.assign(column.count, value_of(column.texts.strings[0]));
    } else {
      texts_ = texts(column);
      for (size_t i = 0; i + 1 < texts_.offsets.size(); ++i) {
        result_.push_back(value_of(
            {texts_.bytes.data() + texts_.offsets[i], texts_.offsets[i + 1] - texts_.offsets[i]}));
      }
    }
  }

  // False where texts must be read after all.
  bool read_numbers(const DecodedColumn& column) {
    const std::vector<int64_t>& numbers = column.numbers.values;
    const DateForm& date = column.numbers.form.date;
    switch (type_.kind) {
      case ValueKind::integer:
        for (const int64_t number : numbers) result_.push_back({.valid = true, .integer = number});
        return true;
      case ValueKind::real: {
        const auto is_exact = [](int64_t n) { return -kExactDouble <= n && n <= kExactDouble; };
        if (!std::all_of(numbers.begin(), numbers.end(), is_exact)) return false;
        for (ColumnCursor cursor(column); !cursor.at_end();) {
          result_.push_back({.valid = true, .real = cursor.number().value_or(0)});
        }
        return true;
      }
      case ValueKind::decimal:
        if (column.numbers.form.type != NumberType::integer &&
            column.numbers.form.type != NumberType::decimal) {
          return false;
        }
        for (const int64_t number : numbers) {
          Int128 scaled = number;
          for (size_t i = column.numbers.form.scale; i < type_.scale; ++i) scaled *= 10;
          result_.push_back({.valid = true, .decimal = scaled});
        }
        return true;
      case ValueKind::timestamp:
        for (const int64_t number : numbers) {
          const std::optional<int64_t> count = timestamp(date, number, type_.fraction);
          result_.push_back({.valid = count.has_value(), .integer = count.value_or(0)});
        }
        return true;
      default:
        return false;
    }
  }

  Value value_of(std::string_view text) {
    if (type_.kind == ValueKind::text) {
      if (is_missing_text(text, format_, kind_)) return {};
      std::string& storage = storage_.emplace_back();
      const std::string_view plain = type_.is_binary ? exact_text(text, format_, kind_, storage)
                                                     : plain_text(text, format_, kind_, storage);
      if (type_.dictionary != nullptr) return coded(plain);
      if (storage.empty()) storage_.pop_back();
      return {.valid = true, .text = plain};
    }
    if (is_missing(text, format_, kind_)) return {};
    std::optional<int64_t> integer;
    switch (type_.kind) {
      case ValueKind::boolean:
        integer = boolean(text, format_, kind_);
        break;
      case ValueKind::integer: {
        const NumberForm& form = values_.column->numbers.form;
        const bool is_digits =
            form.type == NumberType::digits && values_.column->type == records::ColumnType::numbers;
        integer = is_digits ? parse_digits(form, text) : parse_integer(text);
        break;
      }
      case ValueKind::decimal: {
        const std::optional<Int128> number = typed::decimal(text, type_.scale);
        return {.valid = number.has_value(), .decimal = number.value_or(0)};
      }
      case ValueKind::timestamp:
        if (const std::optional<DateForm> form = date_form(text); form) {
          const std::optional<int64_t> count = parse_date(*form, text);
          if (count) integer = timestamp(*form, *count, type_.fraction);
        }
        break;
      default:
        return {.valid = true, .real = real(text)};
    }
    return {.valid = integer.has_value(), .integer = integer.value_or(0)};
  }

  Value coded(std::string_view text) {
    const auto found = type_.dictionary->codes.find(std::string(text));
    storage_.pop_back();
    if (found == type_.dictionary->codes.end()) return {};
    return {.valid = true, .integer = found->second};
  }

  ColumnValues values_;
  const ColumnType& type_;
  Format format_;
  ColumnKind kind_;
  TextValues texts_;
  std::deque<std::string> storage_;
  std::vector<Value> result_;
};

void push(const Value& value, const ColumnType& type, ColumnChunk& out) {
  const ValueKind kind = type.kind;
  out.valid.push_back(value.valid ? 1 : 0);
  if (kind == ValueKind::text && type.dictionary == nullptr) {
    out.bytes.append(value.text);
    out.offsets.push_back(static_cast<int64_t>(out.bytes.size()));
  } else if (kind == ValueKind::real) {
    out.reals.push_back(value.valid ? value.real : std::numeric_limits<double>::quiet_NaN());
  } else if (kind == ValueKind::decimal) {
    out.decimals.push_back(value.decimal);
  } else {
    out.integers.push_back(value.integer);
  }
}

uint64_t end_of(const RecordReader& reader, size_t block) {
  return block + 1 < reader.blocks().size() ? reader.blocks()[block + 1].id : reader.rows();
}

void append_offsets(std::vector<int64_t>& offsets, const std::vector<int64_t>& more) {
  const int64_t before = offsets.back();
  for (size_t i = 1; i < more.size(); ++i) offsets.push_back(before + more[i]);
}

}  // namespace

Result<ColumnChunk> read_column(const Block& block, const ColumnType& type,
                                const std::vector<bool>& keep) {
  std::deque<Part> parts;
  std::vector<std::pair<uint32_t, const Value*>> values;
  for (size_t c = 0; c < block.columns().size(); ++c) {
    const BlockColumn& about = block.columns()[c];
    if (about.kind == ColumnKind::length || about.path != type.path) continue;
    Result<ColumnValues> read = block.read(c);
    if (!read) return read.error();
    const Part& part = parts.emplace_back(std::move(*read), type, block.format(), about.kind);
    for (size_t i = 0; i < part.rows().size(); ++i) {
      values.emplace_back(part.rows()[i], &part.values()[i]);
    }
  }
  if (parts.size() > 1) {
    std::stable_sort(values.begin(), values.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  ColumnChunk chunk;
  size_t next = 0;
  for (size_t row = 0; row < keep.size(); ++row) {
    const size_t begin = next;
    while (next < values.size() && values[next].first == row) ++next;
    if (!keep[row]) continue;
    if (!type.is_list) {
      push(next > begin ? *values[begin].second : Value(), type, chunk);
      continue;
    }
    for (size_t i = begin; i < next; ++i) push(*values[i].second, type, chunk);
    chunk.lists.push_back(static_cast<int64_t>(chunk.valid.size()));
    chunk.list_valid.push_back(next > begin ? 1 : 0);
  }
  return chunk;
}

std::vector<size_t> blocks_of(const RecordReader& reader, const Selection& selection) {
  std::vector<size_t> blocks;
  for (size_t i = 0; i < reader.blocks().size(); ++i) {
    if (reader.blocks()[i].id < selection.end && selection.first < end_of(reader, i)) {
      blocks.push_back(i);
    }
  }
  return blocks;
}

Result<SelectedBlock> read_block(const RecordReader& reader, size_t number,
                                 const Selection& selection) {
  const Result<LoadedBlock> loaded = reader.load(number);
  if (!loaded) return loaded.error();
  const Block& block = loaded->block();
  const uint64_t first = reader.blocks()[number].id;
  std::vector<bool> keep(block.rows());
  const uint64_t begin = std::max(selection.first, header_rows(reader));
  for (size_t row = 0; row < keep.size(); ++row) {
    keep[row] = begin <= first + row && first + row < selection.end;
  }
  for (const Condition& condition : selection.where) {
    if (Status status = apply(condition, block, keep); !status) return status.error();
  }
  SelectedBlock selected;
  selected.rows = static_cast<uint64_t>(std::count(keep.begin(), keep.end(), true));
  for (const ColumnType& type : selection.columns) {
    Result<ColumnChunk> chunk = read_column(block, type, keep);
    if (!chunk) return chunk.error();
    selected.columns.push_back(std::move(*chunk));
  }
  return selected;
}

void append(ColumnChunk& chunk, const ColumnChunk& more) {
  const auto add = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  add(chunk.valid, more.valid);
  add(chunk.integers, more.integers);
  add(chunk.reals, more.reals);
  add(chunk.decimals, more.decimals);
  chunk.bytes += more.bytes;
  add(chunk.list_valid, more.list_valid);
  append_offsets(chunk.offsets, more.offsets);
  append_offsets(chunk.lists, more.lists);
}

}  // namespace hoist::records::typed
