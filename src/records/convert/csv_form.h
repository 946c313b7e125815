// CSV (RFC 4180): a header with keys, and a row a record.
//
// A field between quotes is a string. Another is the value that it is as JSON, or else a string;
// where nothing stands, the record has no such key. Between quotes, too, arrays and objects are
// JSON, and so is a string in quotes of its own that could not be written otherwise. A key that
// comes twice has two columns of its name. A last column @order has an array of keys where a record
// has its keys in another order than the header.
#pragma once

#include <unordered_map>
#include <vector>

#include "records/convert/row_form.h"

namespace hoist::records {

// Columns of a header that this program writes.
inline constexpr size_t kMaxCsvColumns = size_t{1} << 14;

// The keys that a header names.
struct CsvHeader {
  std::vector<std::string> keys;
  bool has_order = false;  // a last column @order, which is none of the keys
};
Result<CsvHeader> parse_csv_header(std::string_view row, char delimiter);
// Without a header: 0, 1, … for as many fields as the row has.
Result<CsvHeader> numbered_csv_header(std::string_view row, char delimiter);

std::unique_ptr<RowParser> csv_row_parser(CsvHeader header, char delimiter);

// The header for records that are shown to it one after the other.
class CsvColumns {
 public:
  // `unsupported` where there would be too many columns.
  Status add(const std::vector<std::string>& keys);

  const std::vector<std::string>& keys() const { return keys_; }
  bool needs_order() const;
  size_t fields() const { return keys_.size() + (needs_order() ? 1 : 0); }  // of a row
  // Columns by key, in the order of the header.
  const std::unordered_map<std::string, std::vector<uint32_t>>& places() const { return places_; }

 private:
  void insert(size_t place, const std::string& key);

  std::vector<std::string> keys_;
  std::unordered_map<std::string, std::vector<uint32_t>> places_;
  bool is_mixed_ = false;  // some record has another order
  bool has_empty_ = false;
};

std::string csv_header(const CsvColumns& columns);
// For records that `columns`, which must outlive the writer, has seen.
std::unique_ptr<RowWriter> csv_row_writer(const CsvColumns& columns);

}  // namespace hoist::records
