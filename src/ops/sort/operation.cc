#include "ops/sort/operation.h"

#include <fmt/core.h>

#include <clocale>

#include "placement/gpu_access.h"
#include "placement/program_operation.h"
#include "takeover/gpu_hint.h"

namespace hoist::sort {
namespace {

// Sebastiano Vigna's splitmix64: gigabytes are made of it.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t word = state_ += 0x9e3779b97f4a7c15;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    return word ^ word >> 31;
  }

 private:
  uint64_t state_;
};

constexpr size_t kLongestLine = 128;

// Lines until there are `bytes`; write(random, at) gives where its line ends.
template <typename Write>
std::string make_lines(uint64_t bytes, uint64_t index, const Write& write) {
  Random random(index);
  std::string text(bytes + kLongestLine, '\0');
  char* at = text.data();
  while (static_cast<uint64_t>(at - text.data()) < bytes) at = write(random, at);
  text.resize(static_cast<size_t>(at - text.data()));
  return text;
}

// Lines of one to six words, so that most comparisons end within a few bytes and lengths vary, as
// in logs and lists.
Result<std::string> words(uint64_t bytes, uint64_t index) {
  return make_lines(bytes, index, [](Random& random, char* at) {
    const uint64_t count = 1 + random.next() % 6;
    for (uint64_t word = 0; word < count; ++word) {
      uint64_t letters = random.next();
      for (uint64_t left = 2 + letters % 8; left > 0; --left, letters /= 26) {
        *at++ = static_cast<char>('a' + letters % 26);
      }
      *at++ = word + 1 < count ? ' ' : '\n';
    }
    return at;
  });
}

Result<std::string> numbers(uint64_t bytes, uint64_t index) {
  return make_lines(bytes, index, [](Random& random, char* at) {
    const auto number = static_cast<int64_t>(random.next()) >> (random.next() % 60);
    return fmt::format_to(at, "{}\n", number);
  });
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
  placement::Operation operation = placement::make_program_operation(
      "sort",
      {{"C", "sort", {}, {"LC_ALL=C"}, 1, words},
       {"locale", "sort", {}, {"LC_ALL=" + locale}, 1, words_of_locale},
       {"numeric", "sort", {"-n"}, {"LC_ALL=C"}, 1, numbers}},
      engine, {placement::find_gpu, placement::lend_gpu});
  // Opening a GPU takes as much time as sorting some hundred megabytes.
  if (hoist_gpu_may_serve()) {
    operation.most_bytes = uint64_t{4} << 30;
    operation.share_of_time = 5;
  }
  return operation;
}

}  // namespace hoist::sort
