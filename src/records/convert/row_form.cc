#include "records/convert/row_form.h"

#include <array>

#include "records/convert/json_value.h"

namespace hoist::records {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"jsonl", "csv", "lt", "lts", "ltu", "sym"};

class JsonRowParser final : public RowParser {
 public:
  Status parse(std::string_view row, Record& out) const override {
    return parse_json_object(row, out);
  }
};

class JsonRowWriter final : public RowWriter {
 public:
  void write(const Record& record, std::string& out) const override {
    append_json_object(record, out);
    out += '\n';
  }
};

}  // namespace

std::string_view name(TextForm form) { return kNames[static_cast<size_t>(form)]; }

std::optional<TextForm> text_form(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<TextForm>(i);
  }
  return std::nullopt;
}

std::unique_ptr<RowParser> row_parser(TextForm form) {
  if (form == TextForm::jsonl) return std::make_unique<JsonRowParser>();
  return form == TextForm::sym ? symbolic_row_parser() : pairs_row_parser(form);
}

std::unique_ptr<RowWriter> row_writer(TextForm form) {
  if (form == TextForm::jsonl) return std::make_unique<JsonRowWriter>();
  return form == TextForm::sym ? symbolic_row_writer() : pairs_row_writer(form);
}

}  // namespace hoist::records
