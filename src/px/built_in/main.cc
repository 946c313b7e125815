// A program of the build: hoist-px-embed FILE.px HEADER_PATH OUTPUT writes OUTPUT.h, OUTPUT.cc and
// OUTPUT.cu (px/built_in/embed.h).
#include <fmt/core.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "px/built_in/embed.h"
#include "px/lower/lower.h"

namespace hoist::px {
namespace {

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) fmt::print(stderr, "{}: cannot be written\n", path);
  return static_cast<bool>(file);
}

int run(const std::string& path, const std::string& header_path, const std::string& output) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) {
    fmt::print(stderr, "{}: cannot be read\n", path);
    return 1;
  }
  const Source source(path, text);
  Diagnostics diagnostics;
  const std::optional<Lowered> lowered = read(source, diagnostics);
  fmt::print(stderr, "{}", render(source, diagnostics));
  if (!lowered) return 1;
  const Result<Embedded> made = embed(*lowered, header_path);
  if (!made) {
    fmt::print(stderr, "{}: {}\n", path, made.error().message);
    return 1;
  }
  const bool written = write_file(output + ".h", made->header) &&
                       write_file(output + ".cc", made->cpp) &&
                       write_file(output + ".cu", made->cuda);
  return written ? 0 : 1;
}

}  // namespace
}  // namespace hoist::px

int main(int count, char** arguments) {
  if (count != 4) {
    fmt::print(stderr, "usage: hoist-px-embed FILE.px HEADER_PATH OUTPUT\n");
    return 2;
  }
  return hoist::px::run(arguments[1], arguments[2], arguments[3]);
}
