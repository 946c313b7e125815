#include "ops/sort/operation.h"

#include <fmt/core.h>

#include <clocale>
#include <random>

#include "placement/program_operation.h"

namespace hoist::sort {
namespace {

// Lines of one to six words, so that most comparisons end within a few bytes and lengths vary, as
// in logs and lists.
Result<std::string> words(uint64_t bytes, uint64_t index) {
  std::mt19937_64 random(index);
  std::string text;
  text.reserve(bytes + 128);
  while (text.size() < bytes) {
    const uint64_t count = 1 + random() % 6;
    for (uint64_t word = 0; word < count; ++word) {
      uint64_t letters = random();
      for (uint64_t left = 2 + letters % 8; left > 0; --left, letters /= 26) {
        text += static_cast<char>('a' + letters % 26);
      }
      text += word + 1 < count ? ' ' : '\n';
    }
  }
  return text;
}

Result<std::string> numbers(uint64_t bytes, uint64_t index) {
  std::mt19937_64 random(index);
  std::string text;
  text.reserve(bytes + 128);
  while (text.size() < bytes) {
    text += fmt::format("{}\n", static_cast<int64_t>(random()) >> (random() % 60));
  }
  return text;
}

// The user's locale where it has collation rules, else a common one that has; empty: none.
std::string collating_locale() {
  const std::string before = std::setlocale(LC_COLLATE, nullptr);
  std::string found;
  for (const char* name : {"", "en_US.UTF-8", "en_GB.UTF-8", "de_DE.UTF-8", "fr_FR.UTF-8"}) {
    const char* real = std::setlocale(LC_COLLATE, name);
    if (real == nullptr) continue;
    const std::string candidate = real;
    const bool is_plain = candidate == "POSIX" || candidate == "C" || candidate.starts_with("C.");
    if (is_plain) continue;
    found = candidate;
    break;
  }
  std::setlocale(LC_COLLATE, before.c_str());
  return found;
}

}  // namespace

placement::Operation operation(const std::string& engine) {
  const std::string locale = collating_locale();
  const auto words_of_locale = [locale](uint64_t bytes, uint64_t index) -> Result<std::string> {
    if (!locale.empty()) return words(bytes, index);
    return fail(ErrorCode::unavailable,
                "no locale with collation rules is installed (locale -a): the compiled-in default "
                "stays");
  };
  return placement::make_program_operation(
      "sort",
      {{"C", "sort", {}, {"LC_ALL=C"}, 1, words},
       {"locale", "sort", {}, {"LC_ALL=" + locale}, 1, words_of_locale},
       {"numeric", "sort", {"-n"}, {"LC_ALL=C"}, 1, numbers}},
      engine);
}

}  // namespace hoist::sort
