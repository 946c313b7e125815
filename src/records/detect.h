// What a text is, by its first lines and by its file's name.
//
// One rule for all who read text (docs/reference/hrec.md): the end of the name decides, unless the
// first lines look like another format and are none of that one. A text without such a name is what
// its first lines look like. Where name and lines differ, a note says what was taken.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "records/tokens.h"

namespace hoist::records {

// By the first lines.
Dialect detect(std::string_view text);

// By the end of the name: .jsonl, .ndjson, .csv, .tsv, .lt, .lts, .ltu, .sym. Without a header.
std::optional<Dialect> dialect_of_name(std::string_view file);

// Whether four of five of the first lines are of the dialect.
bool may_be(std::string_view text, const Dialect& dialect);

enum class Choice : uint8_t { name, name_unlike_text, text_unlike_name };
// The rule. `may_be_named`: four of five of the first lines are of the name's format.
Choice choose_format(const Dialect& by_name, const Dialect& by_text, bool may_be_named);
// What a user should know of the choice; empty where nothing is odd.
std::string note_of(Choice choice, const std::string& file, Format by_name, Format by_text);

// What is known of a text before it is read.
struct Known {
  std::optional<Format> format = std::nullopt;
  // Whether a CSV's first row has the names of its columns.
  std::optional<bool> header = std::nullopt;
  std::string file = {};                              // its name
  std::function<void(const std::string&)> note = {};  // takes note_of()
};
Dialect dialect_of(std::string_view text, const Known& known);

}  // namespace hoist::records
