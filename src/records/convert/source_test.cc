// What a text is taken for, by its name and its first lines, and cells that are made of quotes.
#include <gtest/gtest.h>

#include "base/test_seed.h"
#include "records/convert/convert_testing.h"
#include "records/convert/sniff.h"
#include "records/csv_dialect.h"
#include "records/csv_rows.h"

namespace hoist::records {
namespace {

std::string record_of(std::string_view text) {
  return json_lines({{{"a", {.kind = JsonKind::text, .text = std::string(text)}}}});
}

// What is written under a name is read as what the name says, whatever it holds.
TEST(Source, WrittenFilesAreReadByTheirNames) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 400; ++round) {
    const std::string lines = json_lines(random_rows(random, random() % 30));
    for (const TextForm form : kAllForms) {
      const std::string text = converted(lines, TextForm::jsonl, form).value();
      const Result<TextDialect> found =
          dialect_of_file("x." + std::string(name(form)), text, nullptr);
      ASSERT_TRUE(found) << text;
      ASSERT_EQ(found->form, form) << text;
      ASSERT_EQ(found->delimiter, ',') << text;
      ASSERT_TRUE(found->has_header);
    }
  }
}

// Without commas to show what parts fields, nothing else looks as if it did.
TEST(Source, ACsvOfOneColumnHasNoOtherMarks) {
  for (const std::string_view mark : {";", "|", "\t"}) {
    std::string lines;
    for (int i = 0; i < 30; ++i) {
      lines += "{\"k" + std::string(mark == "\t" ? "\\t" : mark) + "\":\"" + std::to_string(i) +
               std::string(mark == "\t" ? "\\t" : mark) + "x\"}\n";
    }
    const std::string csv = converted(lines, TextForm::jsonl, TextForm::csv).value();
    const TextDialect found = dialect_of_file("x.csv", csv, nullptr).value();
    EXPECT_EQ(found.delimiter, ',') << csv;
    EXPECT_EQ(converted(csv, {.from = TextForm::csv, .delimiter = found.delimiter}).value(), lines);
  }
}

TEST(Source, NamesAndLinesThatDiffer) {
  struct Case {
    std::string_view name, text;
    TextForm form;
    char delimiter;
    bool is_noted;
  };
  const std::string log = "any words\nof any kind\n";
  const Case cases[] = {
      {"x.jsonl", "{\"a\":1}\n", TextForm::jsonl, ',', false},
      {"x.ndjson", log, TextForm::jsonl, ',', false},
      {"x.csv", log, TextForm::csv, ',', false},
      {"x.csv", "a;b\n1;2\n3;4\n", TextForm::csv, ';', false},
      {"x.csv", "a;b\n1,5;2\n3,5;4\n", TextForm::csv, ';', false},
      {"x.csv", "a,b;c\n1,5;2\n3,5;4\n", TextForm::csv, ',', false},
      {"x.tsv", "a\tb,c\n1\t2,5\n", TextForm::csv, '\t', false},
      {"x.csv", "{\"a\":1}\n{\"a\":2}\n", TextForm::jsonl, ',', true},
      {"x.csv", "a>>1\nb>>2\n", TextForm::csv, ',', true},
      {"x.lt", "a>>1 b>>2\n", TextForm::lt, ',', false},
      {"x.lts", "a>>1 b>>2\n", TextForm::lts, ',', false},
      {"x.ltu", "⏱>>1\n", TextForm::ltu, ',', false},
      {"x.lt", "⟆⟐.RAW:[§₿,✓]\n", TextForm::sym, ',', true},
      {"x.sym", "{\"a\":1}\n", TextForm::jsonl, ',', true},
      {"x.sym", " \n\r\n", TextForm::sym, ',', false},
      {"x", "{\"a\":1}\n", TextForm::jsonl, ',', false},
      {"x.log", "a>>1\n", TextForm::lt, ',', false},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(std::string(each.name) + ": " + std::string(each.text));
    std::string noted;
    const Result<TextDialect> found = dialect_of_file(
        std::string(each.name), each.text, [&](const std::string& what) { noted += what; });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->form, each.form);
    EXPECT_EQ(found->delimiter, each.delimiter);
    EXPECT_EQ(!noted.empty(), each.is_noted) << noted;
  }
}

TEST(Source, CellsOfQuotes) {
  for (size_t count = 1; count <= 9; ++count) {
    for (const std::string_view around : {"", "x", "[1]", " "}) {
      const std::string quotes(count, '"');
      for (const std::string& cell :
           {quotes, quotes + std::string(around) + quotes, std::string(around) + quotes}) {
        const std::string expected = record_of(cell);
        for (const TextForm first : kAllForms) {
          const std::string one = converted(expected, TextForm::jsonl, first).value();
          for (const TextForm second : kAllForms) {
            const std::string two = converted(one, first, second).value();
            ASSERT_EQ(converted(two, second, TextForm::jsonl).value(), expected)
                << name(first) << " " << name(second) << " " << one;
          }
        }
      }
    }
  }
}

// Between quotes stands what any program reads there, but for lists and what looks like an escape.
TEST(Source, QuotedCellsAreWhatTheyAreElsewhere) {
  for (const std::string_view cell :
       {"\"", "\"\"", "\"\"\"", "\"x\"", "\"a\\nb\"", "\"1\"", "\"\"x\"\"", "[1\"", "\"\\u0041\"",
        "\"\\u005b1]\"", "\" \""}) {
    std::string csv = "a\n";
    append_csv_quoted(cell, csv);
    const std::string expected = record_of(cell);
    EXPECT_EQ(converted(csv, TextForm::csv, TextForm::jsonl).value(), expected);
    EXPECT_EQ(converted(expected, TextForm::jsonl, TextForm::csv).value(), csv + "\n");
    if (cell.find("\\n") != cell.npos) continue;  // headers show line ends as escapes
    // The same as a key.
    std::string header;
    append_csv_quoted(cell, header);
    std::string key;
    append_json_string(cell, key);
    EXPECT_EQ(converted(header + "\n1\n", TextForm::csv, TextForm::jsonl).value(),
              "{\"" + std::string(key.substr(1)) + ":1}\n")
        << cell;
  }
  EXPECT_EQ(converted("a\n\"\"\"[1]\"\"\"\n", TextForm::csv, TextForm::jsonl).value(),
            record_of("[1]"));
  EXPECT_EQ(converted("a\n\"\"\"\\u0001\"\"\"\n", TextForm::csv, TextForm::jsonl).value(),
            record_of("\x01"));
}

TEST(Source, LinesAreRecordsOfAnyText) {
  const std::string text = "\uFEFFa b\n\n \t\r\n{\"x\":1}\n\xff" + std::string(1, '\0') + "\nlast";
  for (const TextForm form : kAllForms) {
    const std::string out = converted(text, TextForm::lines, form).value();
    const std::string lines = converted(out, form, TextForm::jsonl).value();
    EXPECT_EQ(lines, converted(text, TextForm::lines, TextForm::jsonl).value());
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 6) << name(form);
  }
  EXPECT_EQ(converted("a\r\n\nb", TextForm::lines, TextForm::jsonl).value(),
            "{\"line\":\"a\\r\"}\n{\"line\":\"\"}\n{\"line\":\"b\"}\n");
  ConvertOptions options{.from = TextForm::lines, .unparsed = Unparsed::keep, .keep_key = ""};
  EXPECT_EQ(converted("a\n", options).value(), "{\"\":\"a\"}\n");
}

TEST(Source, RowsOfCsvHaveSeveralLines) {
  const std::string text = "\uFEFF\"a\n\"\"b\"\"\",\"c\r\nd\"\r\n1,\"x\ny\"\r\n2,z\r\n";
  const Dialect found = detect(text);
  EXPECT_EQ(found.format, Format::csv);
  EXPECT_EQ(found.names, (std::vector<std::string>{"a\n\"b\"", "c\r\nd"}));
  EXPECT_EQ(found.header_rows, 3u);
  EXPECT_EQ(lines_of_first_csv_row("\"a\n\n", ',', 64), 0u);
  EXPECT_EQ(lines_of_first_csv_row("\"a\n\n\"\n", ',', 2), 0u);
  EXPECT_EQ(lines_of_first_csv_row("\"a\n\n\"\n", ',', 3), 3u);
}

}  // namespace
}  // namespace hoist::records
