// Fuzzes px with texts of its own words in any order (px_checks.h): each byte of
// the input is a word, a name, a number or a sign. They come deeper than random text does.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "px/text/keywords.h"
#include "px_checks.h"

namespace {

constexpr std::string_view kOthers[] = {
    "\n",
    "\n",
    "\n",
    "\n",
    "\n",
    "→",
    "→",
    "->",
    "=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "|",
    "^",
    "~",
    "<<",
    ">>",
    "<",
    "<=",
    "==",
    "!=",
    "(",
    ")",
    "[",
    "]",
    ",",
    ":",
    ":\n",
    "a",
    "b",
    "i",
    "n",
    "tile",
    "k",
    "a[i]",
    "a[0]",
    "f(a)",
    "1",
    "0",
    "2.5",
    "0xff",
    "4",
    "-1",
    "true",
    "f32",
    "i32",
    "u8",
    "bool",
    "f32x4",
    "f32[]",
    "i32[]",
    "in",
    "out",
    "BY",
    "FROM",
    "TO",
    "STEP",
    "BLOCKS",
    "THREADS",
    "WITH",
    "SUM",
    "MAX",
    "AND",
    "NOT",
    "MOD",
    "sqrt(",
    "min(",
    "select(",
    "len(a)",
    "thread_id()",
    "# c\n",
    "f64(",
    "as_u32(",
    " ",
    "GPU_KERNEL k\nGPU_PARAM a f32[]\nGPU_PARAM b i32[]\nGPU_PARAM n int\nLOCAL_ID → i\n",
    "GPU_END\n",
    "ENDIF\n",
    "ENDFOR\n",
    "IF i < n:\n",
    "FOR j FROM 0 TO n:\n",
    "LOAD a[i] → x\n",
    "STORE x → a[i]\n",
    "LET v f32 = 1\n",
    "v = v + a[i]\n"};

std::string text_of(const uint8_t* data, size_t size) {
  const auto words = hoist::px::all_words();
  std::string text;
  for (size_t at = 0; at < size; ++at) {
    const size_t number = data[at] % (words.size() + std::size(kOthers));
    text += number < words.size() ? words[number].name : kOthers[number - words.size()];
    if (!text.ends_with('\n')) text += ' ';
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hoist::px::check_text(text_of(data, size));
  return 0;
}
