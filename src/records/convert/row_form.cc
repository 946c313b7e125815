#include "records/convert/row_form.h"

#include <array>

#include "records/convert/json_value.h"

namespace hoist::records {
namespace {

constexpr std::array<std::string_view, 7> kNames = {"jsonl", "csv", "lt",   "lts",
                                                    "ltu",   "sym", "lines"};

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

class LinesRowParser final : public RowParser {
 public:
  explicit LinesRowParser(std::string key) : key_(std::move(key)) {}
  Status parse(std::string_view row, Record& out) const override {
    out.push_back({key_, {.kind = JsonKind::text, .text = std::string(row)}});
    return {};
  }

 private:
  std::string key_;
};

}  // namespace

std::string_view name(TextForm form) { return kNames[static_cast<size_t>(form)]; }

std::optional<TextForm> text_form(std::string_view name) {
  const std::optional<TextForm> form = source_form(name);
  return form == TextForm::lines ? std::nullopt : form;
}

std::optional<TextForm> source_form(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<TextForm>(i);
  }
  return std::nullopt;
}

std::unique_ptr<RowParser> row_parser(TextForm form) {
  if (form == TextForm::jsonl) return std::make_unique<JsonRowParser>();
  return form == TextForm::sym ? symbolic_row_parser() : pairs_row_parser(form);
}

std::unique_ptr<RowParser> lines_row_parser(std::string key) {
  return std::make_unique<LinesRowParser>(std::move(key));
}

std::unique_ptr<RowWriter> row_writer(TextForm form) {
  if (form == TextForm::jsonl) return std::make_unique<JsonRowWriter>();
  return form == TextForm::sym ? symbolic_row_writer() : pairs_row_writer(form);
}

}  // namespace hoist::records
