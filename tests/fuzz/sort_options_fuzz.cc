// sort's argument parser on arbitrary command lines, and the order that they ask for on arbitrary
// lines: a key must lie inside its line, and an order must be one.
//
// Input: a byte of circumstances, then NUL-terminated arguments; the last two are lines to compare.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "ops/sort/compare.h"
#include "ops/sort/options.h"

namespace {

using hoist::sort::Comparator;
using hoist::sort::Line;
using hoist::sort::Options;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

int sign(int order) { return (order > 0) - (order < 0); }

void set_or_unset(const char* name, bool set, const char* value) {
  if (set) {
    setenv(name, value, 1);
  } else {
    unsetenv(name);
  }
}

void check_order(const Options& options, Line a, Line b) {
  const Comparator comparator(options);
  for (const Line line : {a, b}) {
    for (size_t i = 0; i < options.keys.size(); ++i) {
      const Line key = comparator.key_range(i, line);
      require(key.text >= line.text && key.text + key.length <= line.text + line.length,
              "a key lies inside its line");
    }
    require(comparator.compare(line, line) == 0, "a line equals itself");
  }
  require(sign(comparator.compare(a, b)) == -sign(comparator.compare(b, a)),
          "an order read backwards is its reverse");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // --files0-from=- must find an end.
  static const bool input_is_empty = [] {
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return null >= 0 && dup2(null, STDIN_FILENO) == STDIN_FILENO;
  }();
  require(input_is_empty, "standard input can be replaced");

  const uint8_t circumstances = data[0];
  set_or_unset("POSIXLY_CORRECT", circumstances & 1, "1");
  set_or_unset("_POSIX2_VERSION", circumstances & 2, "200112");
  const std::string_view version = circumstances & 4 ? "9.4" : "9.1";

  std::vector<std::string> argv = {"sort"};
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  while (!rest.empty()) {
    const std::string_view argument = rest.substr(0, rest.find('\0'));
    argv.emplace_back(argument);
    rest.remove_prefix(std::min(argument.size() + 1, rest.size()));
  }
  std::string lines[2];
  for (std::string& line : lines) {
    if (argv.size() < 2) break;
    line = std::move(argv.back());
    argv.pop_back();
  }

  const hoist::Result<Options> options = hoist::sort::parse_options(argv, version);
  if (!options) {
    require(options.error().code == hoist::ErrorCode::unsupported, "every refusal steps aside");
    return 0;
  }
  require(!options->files.empty() && options->batch_size >= 2, "options are complete");
  check_order(*options, {lines[0].data(), lines[0].size()}, {lines[1].data(), lines[1].size()});
  return 0;
}
