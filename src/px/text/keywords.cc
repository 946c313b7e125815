#include "px/text/keywords.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/nearest_word.h"

namespace hoist::px {
namespace {

constexpr WordProperties kWords[] = {
#define HOIST_PX_WORD(word, place, form) {Word::word, #word, WordPlace::place, form},
#include "px/text/keywords.def"
#undef HOIST_PX_WORD
};

constexpr std::string_view kOperators[] = {"AND", "OR",   "XOR",  "NOT", "SHL",
                                           "SHR", "ROTL", "ROTR", "MOD"};

// Words of older px texts, which were ignored there, and how the same is written.
struct FormerWord {
  std::string_view name;
  std::string_view mend;
};
constexpr FormerWord kFormerWords[] = {
    {"CALCULATE", "write name = value, or LET name type = value for a new one"},
    {"CALL", "write LOAD function(a, b) → result"},
    {"PRINT", "store the value into an array; a kernel prints nothing"},
    {"PARALLEL_FOR", "threads are the loop: write THREAD_ID → i"},
    {"PARALLEL", "threads are the loop: write THREAD_ID → i"},
    {"PARALLEL_REDUCE", "write BLOCK_REDUCE SUM value → result"},
    {"LOAD_COALESCED", "write LOAD a[thread] → value; neighbouring threads' loads are joined"},
    {"GPU_SHARED_MEM", "write GPU_SHARED name type count"},
    {"GPU_DISTRIBUTE", "leave it out, or write GPU_TARGET auto"},
    {"LOOKUP", "write LOAD table[i] → value, with a table made by CONST"},
    {"WRITE", "px has no commands for boot images: leave it out"},
    {"DEFINE", "px has no commands for boot images: write CONST name type = value"},
    {"VAR", "write LET name type = value"},
    {"FUNCTION", "write FUNC name(a type) → type:"},
    {"ELIF", "write ELSE IF condition:"},
    {"ELSEIF", "write ELSE IF condition:"},
    {"END", "write the end of that block: ENDIF, ENDFOR, ENDWHILE, ENDFUNC or GPU_END"},
};

}  // namespace

std::span<const WordProperties> all_words() { return kWords; }

const WordProperties& properties(Word word) { return kWords[static_cast<size_t>(word)]; }

std::optional<Word> find_word(std::string_view text) {
  const std::string name = upper_case(text);
  for (const WordProperties& word : kWords) {
    if (word.name == name) return word.word;
  }
  return std::nullopt;
}

std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& letter : upper) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return upper;
}

bool is_operator_word(std::string_view text) {
  const std::string name = upper_case(text);
  return std::find(std::begin(kOperators), std::end(kOperators), name) != std::end(kOperators);
}

std::string mend_of_unknown_word(std::string_view text) {
  const std::string name = upper_case(text);
  for (const FormerWord& former : kFormerWords) {
    if (former.name == name) return std::string(former.mend);
  }
  std::vector<std::string> known;
  for (const WordProperties& word : kWords) known.emplace_back(word.name);
  const std::string nearest = nearest_word(name, known);
  if (!nearest.empty()) {
    return fmt::format("is it {}? It is written {}", nearest, properties(*find_word(nearest)).form);
  }
  return "begin the line with a word of docs/reference/px.md, or write name = value";
}

}  // namespace hoist::px
