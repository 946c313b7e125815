#include "records/file_format.h"

#include "container/cbor.h"
#include "records/limits.h"

namespace hoist::records {

std::string encode_dialect(const Dialect& dialect) {
  container::CborWriter out;
  const bool is_long = dialect.header_rows != 1 && !dialect.names.empty();
  const bool has_form = !dialect.pairs_form.empty();
  out.map(uint64_t{3} + (dialect.header_lost ? 1 : 0) + (is_long ? 1 : 0) + (has_form ? 1 : 0));
  out.text("format");
  out.text(name(dialect.format));
  out.text("delimiter");
  out.text({&dialect.delimiter, 1});
  out.text("names");
  out.array(dialect.names.size());
  // Names are any bytes, text in CBOR is UTF-8.
  for (const std::string& field : dialect.names) out.bytes(container::as_bytes(field));
  if (dialect.header_lost) {
    out.text("header lost");
    out.number(uint64_t{1});
  }
  if (is_long) {
    out.text("header rows");
    out.number(uint64_t{dialect.header_rows});
  }
  if (has_form) {
    out.text("pairs form");
    out.text(dialect.pairs_form);
  }
  return out.result();
}

Result<Dialect> decode_dialect(container::Bytes metadata) {
  container::CborReader in(metadata);
  Dialect dialect;
  bool known = false;
  for (uint64_t pairs = in.map(); pairs > 0 && in.ok(); --pairs) {
    const std::string_view key = in.text();
    if (key == "format") {
      const std::string_view value = in.text();
      for (uint8_t format = 0; format <= static_cast<uint8_t>(Format::log); ++format) {
        if (name(static_cast<Format>(format)) != value) continue;
        dialect.format = static_cast<Format>(format);
        known = true;
      }
    } else if (key == "delimiter") {
      const std::string_view value = in.text();
      if (value.size() == 1) dialect.delimiter = value[0];
    } else if (key == "names") {
      const uint64_t count = in.array();
      if (count > kMaxColumns) in.refuse();
      for (uint64_t i = 0; i < count && in.ok(); ++i) {
        const container::Bytes bytes = in.bytes();
        dialect.names.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      }
    } else if (key == "header lost") {
      dialect.header_lost = in.number() != 0;
    } else if (key == "pairs form") {
      const std::string_view form = in.text();
      if (form == "lt" || form == "lts" || form == "ltu") dialect.pairs_form = form;
    } else if (key == "header rows") {
      const uint64_t rows = in.number();
      if (rows == 0 || rows > kMaxRows) in.refuse();
      dialect.header_rows = static_cast<uint32_t>(rows);
    } else {
      in.skip();
    }
  }
  if (!in.ok() || !in.at_end() || !known) {
    return fail(ErrorCode::corrupt, "the metadata of the file of records is damaged");
  }
  return dialect;
}

}  // namespace hoist::records
