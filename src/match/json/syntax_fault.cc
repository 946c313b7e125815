#include "match/json/syntax_fault.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>

namespace hoist::match {
namespace {

// The byte, from 1, at which the text stops being JSON; one past its end where it stops too early.
// None where only simdjson refuses it.
std::optional<size_t> fault_position(std::string_view text) {
  try {
    [[maybe_unused]] const auto whole = nlohmann::json::parse(text);
    return std::nullopt;
  } catch (const nlohmann::json::parse_error& error) {
    return error.byte;
  } catch (const nlohmann::json::exception&) {  // a number out of range: no position
    return std::nullopt;
  }
}

const char* words_for(simdjson::error_code error) {
  switch (error) {
    case simdjson::UTF8_ERROR:
      return "a character that is not UTF-8";
    case simdjson::STRING_ERROR:
      return "a wrong escape in a string";
    case simdjson::UNESCAPED_CHARS:
      return "a control character in a string, where JSON has \\n, \\t or \\u0000";
    case simdjson::UNCLOSED_STRING:
      return "a string lacks its closing quote";
    case simdjson::NUMBER_ERROR:
      return "a number that JSON cannot hold";
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR:
      return "a word that is not true, false or null: put symbols in double quotes";
    case simdjson::DEPTH_ERROR:
      return "lists or objects nested too deep";
    case simdjson::TAPE_ERROR:
      return "a comma, bracket or quote is missing, or one too many";
    default:
      return simdjson::error_message(error);
  }
}

}  // namespace

std::string syntax_fault(std::string_view text, simdjson::error_code error) {
  if (error == simdjson::EMPTY || text.empty()) return "nothing where JSON is expected";
  const std::optional<size_t> position = fault_position(text);
  if (position > text.size()) return "not JSON: it ends inside a list, an object or a string";
  if (!position) return fmt::format("not JSON: {}", words_for(error));
  return fmt::format("not JSON at byte {}: {}", *position, words_for(error));
}

}  // namespace hoist::match
