// The columns of a file of records as typed values, one entry a row: what NumPy and Arrow
// get.
//
// A column has one type in the whole file, so that arrays of different blocks fit together. Rows
// without the column, and `null`, are missing. docs/reference/records-python.md has the rules.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "records/reader.h"

namespace hoist::records::typed {

enum class ValueKind : uint8_t { boolean, integer, real, timestamp, text, decimal };

__extension__ using Int128 = __int128;
// Digits that it holds in any case.
inline constexpr int kMostDigits = 38;

// The different texts of a column, in the order in which they come.
struct TextDictionary {
  std::vector<std::string> entries;
  std::unordered_map<std::string, int32_t> codes;
};

inline constexpr uint8_t kNoPlaces = 255;

struct ColumnType {
  std::string path;
  std::string name;  // the path without its slash, in valid UTF-8
  ValueKind kind = ValueKind::text;
  uint8_t places = 0;    // reals: the most digits behind the point; kNoPlaces: not all are decimals
  uint8_t fraction = 0;  // timestamps: digits of the unit, 0, 3, 6 or 9
  bool is_utc = false;   // timestamps: they had zones; else they are as written
  bool is_list = false;  // a row may have several values
  bool nullable = false;  // some row has none
  // For exact types only:
  uint8_t scale = 0;       // decimals: values count units of 10^-scale
  bool is_binary = false;  // text: some value is no UTF-8
  // text: there are few different ones, and values are numbers of entries
  std::shared_ptr<const TextDictionary> dictionary = {};
  uint64_t values = 0;
  uint64_t text_bytes = 0;
  uint64_t stored_bytes = 0;
};

struct TypeOptions {
  // Numbers with a point are decimals rather than reals where all are written without an exponent;
  // texts are bytes where some are no UTF-8, and have dictionaries where the file has them.
  bool exact = false;
  bool decimals = true;  // where exact; else they are reals
};

// All columns but those of lengths, in the order in which the blocks have them. Reads every block,
// but decodes only texts, and what lists need. `cancelled` where it was asked to stop.
Result<std::vector<ColumnType>> column_types(const RecordReader& reader,
                                             const std::stop_token& stop,
                                             const TypeOptions& options = {});

// Values of one column: `valid` has an entry a value, and so have `integers` (also timestamps,
// 0 or 1, and numbers of a dictionary's entries), `reals` or `decimals`; value i of a text is
// bytes[offsets[i], offsets[i + 1]).
struct ColumnChunk {
  std::vector<uint8_t> valid;
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<Int128> decimals;
  std::string bytes;
  std::vector<int64_t> offsets = {0};
  // Lists: row i has the values lists[i] to lists[i + 1] - 1.
  std::vector<int64_t> lists = {0};
  std::vector<uint8_t> list_valid;
};

// What is asked for of a file.
struct Selection {
  std::vector<ColumnType> columns;
  uint64_t first = 0;  // rows
  uint64_t end = UINT64_MAX;
  std::vector<Condition> where;
};

struct SelectedBlock {
  uint64_t rows = 0;
  std::vector<ColumnChunk> columns;  // of each selected column
};

// The selected rows of one block. A CSV's header is none of them.
Result<SelectedBlock> read_block(const RecordReader& reader, size_t block,
                                 const Selection& selection);

// One column of a block, for the rows that are to be kept.
Result<ColumnChunk> read_column(const records::Block& block, const ColumnType& type,
                                const std::vector<bool>& keep);

// Those that hold some of the selected rows.
std::vector<size_t> blocks_of(const RecordReader& reader, const Selection& selection);

// Appends the values of `more`, which is of the same column.
void append(ColumnChunk& chunk, const ColumnChunk& more);

}  // namespace hoist::records::typed
