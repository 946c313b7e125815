// The words that begin a statement (keywords.def), and those that name operators in expressions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hoist::px {

enum class Word : uint8_t {
#define HOIST_PX_WORD(word, place, form) word,
#include "px/text/keywords.def"
#undef HOIST_PX_WORD
};

enum class WordPlace : uint8_t { file, kernel, code };

struct WordProperties {
  Word word;
  std::string_view name;  // upper case
  WordPlace place;
  std::string_view form;
};

// In the order of Word.
std::span<const WordProperties> all_words();
const WordProperties& properties(Word word);
// In any case: "gpu_end" is GPU_END.
std::optional<Word> find_word(std::string_view text);

// Upper case for ASCII letters; others stay.
std::string upper_case(std::string_view text);

// Whether the text is an operator in expressions, in any case: AND OR XOR NOT SHL SHR ROTL ROTR
// MOD.
bool is_operator_word(std::string_view text);

// What to do about a word that the language has not: the nearest one that it has, what took a
// former word's place, or the list of words for that place. For a diagnostic's mend.
std::string mend_of_unknown_word(std::string_view text);

}  // namespace hoist::px
