// Which of the formats a text is in.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "records/convert/row_form.h"
#include "records/detect.h"

namespace hoist::records {

struct TextDialect {
  TextForm form = TextForm::jsonl;
  char delimiter = ',';    // csv
  bool has_header = true;  // csv
};

// By the end of the name: .jsonl, .ndjson, .csv, .tsv, .lt, .lts, .ltu, .sym.
std::optional<TextDialect> form_of_name(std::string_view file);

// By the first lines. `invalid_argument` where they are of none of the formats, or where a CSV may
// have a header or none.
Result<TextDialect> dialect_of_text(std::string_view first);
// The same by the rule of detect.h; `note` takes what the user should know.
Result<TextDialect> dialect_of_file(const std::string& file, std::string_view first,
                                    const std::function<void(const std::string&)>& note);
// The same, where it is known what files of records know. `first` tells lt, lts and ltu apart.
Result<TextDialect> dialect_of_records(const Dialect& dialect, std::string_view first);

// Tells lines of key>>value apart: ltu where all keys begin with __, lts where one is a glyph, else
// lt.
TextForm pairs_form_of(std::string_view first);

}  // namespace hoist::records
