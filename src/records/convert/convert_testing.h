// Conversions of whole texts, for tests, and records that are hard to write.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "records/convert/convert.h"
#include "records/convert/json_value.h"

namespace hoist::records {

inline Result<std::string> converted(std::string_view text, const ConvertOptions& options) {
  std::string out;
  const Result<Converted> done = convert([&](const WriteText& take) { return take(text); }, options,
                                         [&](std::string_view piece) -> Status {
                                           out += piece;
                                           return {};
                                         });
  if (!done) return done.error();
  return out;
}

inline Result<std::string> converted(std::string_view text, TextForm from, TextForm to) {
  return converted(text, {.from = from, .to = to});
}

inline constexpr TextForm kAllForms[] = {TextForm::jsonl, TextForm::csv, TextForm::lt,
                                         TextForm::lts,   TextForm::ltu, TextForm::sym};

// One row of each record: what two texts share where they have the same records.
inline std::string json_lines(const std::vector<Record>& records) {
  std::string out;
  for (const Record& record : records) {
    append_json_object(record, out);
    out += '\n';
  }
  return out;
}

// A string of pieces that some format gives a meaning.
inline std::string random_bytes(std::mt19937_64& random, size_t most) {
  using namespace std::string_literals;
  static const std::vector<std::string> kPieces = {"a"s,
                                                   "B"s,
                                                   "id"s,
                                                   "__"s,
                                                   " "s,
                                                   "  "s,
                                                   "\t"s,
                                                   "\n"s,
                                                   "\r"s,
                                                   "\r\n"s,
                                                   "\0"s,
                                                   "\x01"s,
                                                   "\x1f"s,
                                                   "\x7f"s,
                                                   ","s,
                                                   ";"s,
                                                   ":"s,
                                                   "\""s,
                                                   "\"\""s,
                                                   "'"s,
                                                   "\\"s,
                                                   "\\n"s,
                                                   "\\\""s,
                                                   "/"s,
                                                   "["s,
                                                   "]"s,
                                                   "{"s,
                                                   "}"s,
                                                   "="s,
                                                   ">"s,
                                                   ">>"s,
                                                   ">>>"s,
                                                   "k>>v"s,
                                                   "@order"s,
                                                   "@type"s,
                                                   "#"s,
                                                   "1"s,
                                                   "-"s,
                                                   "0"s,
                                                   "."s,
                                                   "1e5"s,
                                                   "null"s,
                                                   "true"s,
                                                   "NaN"s,
                                                   "é"s,
                                                   "»"s,
                                                   "⟆"s,
                                                   "⟐"s,
                                                   "§"s,
                                                   "₿"s,
                                                   "⏱"s,
                                                   "🔑"s,
                                                   "⚙"s,
                                                   "⚙️"s,
                                                   "\uFEFF"s,
                                                   "\u00A0"s,
                                                   "\u2028"s,
                                                   "\u3000"s,
                                                   "😀"s,
                                                   "\x80"s,
                                                   "\xff"s,
                                                   "\xc2"s,
                                                   "\xbb"s,
                                                   "\xe2\x9f"s,
                                                   "\xed\xa0\x80"s,
                                                   "\xed\xb0\x80"s,
                                                   "\xed\xb2\x80"s,
                                                   "\xed\xaf\xbf"s,
                                                   "\xf4\x90\x80\x80"s,
                                                   "\xc0\x80"s,
                                                   "68a128dc"s,
                                                   "\\ud800"s,
                                                   "\\x41"s,
                                                   "[1,2]"s,
                                                   "{}"s};
  std::string out;
  for (size_t n = random() % (most + 1); n > 0; --n) out += kPieces[random() % kPieces.size()];
  return out;
}

inline std::string random_json_number(std::mt19937_64& random) {
  static const std::vector<std::string> kNumbers = {"0",
                                                    "-0",
                                                    "1",
                                                    "-1",
                                                    "1.50",
                                                    "1.5",
                                                    "1e3",
                                                    "1E+3",
                                                    "-0.0",
                                                    "1e-400",
                                                    "1755392220",
                                                    "4294967295",
                                                    "4294967296",
                                                    "68128000",
                                                    "0.1",
                                                    "NaN",
                                                    "Infinity",
                                                    "-Infinity",
                                                    "123456789012345678901234567890"};
  if (random() % 16 == 0) return "-" + std::string(400, '7') + "." + std::string(400, '0');
  return kNumbers[random() % kNumbers.size()];
}

inline Value random_value(std::mt19937_64& random, int depth = 0) {
  switch (random() % (depth < 3 ? 8 : 6)) {
    case 0:
      return {};
    case 1:
      return {.kind = JsonKind::boolean, .text = random() % 2 == 0 ? "true" : "false"};
    case 2:
      return {.kind = JsonKind::number, .text = random_json_number(random)};
    case 6: {
      Value array{.kind = JsonKind::array, .text = "["};
      for (size_t n = random() % 4, i = 0; i < n; ++i) {
        if (i > 0) array.text += ',';
        append_json(random_value(random, depth + 1), array.text);
      }
      array.text += ']';
      return array;
    }
    case 7: {
      Record members;
      for (size_t n = random() % 4; n > 0; --n) {
        members.push_back({random_bytes(random, 3), random_value(random, depth + 1)});
      }
      Value object{.kind = JsonKind::object};
      append_json_object(members, object.text);
      return object;
    }
    default:
      return {.kind = JsonKind::text, .text = random_bytes(random, 5)};
  }
}

inline std::string random_key(std::mt19937_64& random) {
  static const std::vector<std::string> kKeys = {
      "",        "id",     "name",    "timestamp", "symbol", "open",  "@type",  "@subtype",
      "@status", "@order", "a b",     "🔑",         "\\🔑",    "\\\\🔑", "__init", "⚙",
      "⚙️",  "ℹ",      "warning", "§",         "§x",     "a:b",   "a>",     ">>",
      "\"a\"",   "\"",     "key",     "0",         "1",      "true",  "a\nb",   "\uFEFFk"};
  return random() % 4 == 0 ? random_bytes(random, 3) : kKeys[random() % kKeys.size()];
}

inline std::vector<Record> random_rows(std::mt19937_64& random, size_t rows) {
  std::vector<std::string> keys;
  for (size_t n = random() % 6; n > 0; --n) keys.push_back(random_key(random));
  const bool is_alike = random() % 2 == 0;
  std::vector<Record> records(rows);
  for (Record& record : records) {
    if (is_alike) {
      for (const std::string& key : keys) {
        if (random() % 8 > 0) record.push_back({key, random_value(random)});
      }
    } else {
      for (size_t n = random() % 6; n > 0; --n) {
        record.push_back({random_key(random), random_value(random)});
      }
    }
  }
  return records;
}

}  // namespace hoist::records
