// For tests: the installed sort, locales to try it in, and a plain sort by Comparator.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/test_seed.h"
#include "ops/sort/compare.h"
#include "ops/sort/options.h"

namespace hoist::sort {

struct ProgramResult {
  int status = -1;  // exit status; -1: did not exit
  std::string output;
  std::string errors;
};

inline std::string read_memory_file(int fd) {
  std::string content(static_cast<size_t>(lseek(fd, 0, SEEK_END)), '\0');
  const ssize_t count = pread(fd, content.data(), content.size(), 0);
  EXPECT_EQ(count, static_cast<ssize_t>(content.size()));
  close(fd);
  return content;
}

inline std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Runs `argv` found in PATH, in this process's environment.
inline ProgramResult run_program(const std::vector<std::string>& argv,
                                 const std::string& input = {}) {
  const int in = memfd_create("in", MFD_CLOEXEC);
  const int out = memfd_create("out", MFD_CLOEXEC);
  const int err = memfd_create("err", MFD_CLOEXEC);
  EXPECT_EQ(pwrite(in, input.data(), input.size(), 0), static_cast<ssize_t>(input.size()));
  std::vector<char*> arguments;
  for (const std::string& argument : argv) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  close(in);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_memory_file(out),
          read_memory_file(err)};
}

// "9.1" of the installed coreutils; empty where `sort` is another program.
inline std::string installed_version() {
  const std::string text = run_program({"sort", "--version"}).output;
  const std::string prefix = "sort (GNU coreutils) ";
  if (!text.starts_with(prefix)) return {};
  return text.substr(prefix.size(), text.find('\n') - prefix.size());
}

// Compares by strcoll() of whole texts.
inline Comparator plain_comparator(const Options& options) {
  LocaleFacts locale = read_locale();
  locale.element_ends = {};
  return Comparator(options, std::move(locale));
}

// The lines of `text` sorted by such a comparator, as the options say; standard input for "-".
inline std::string sort_plainly(const Options& options, const std::string& standard_input) {
  std::string text;
  bool input_read = false;
  for (const std::string& file : options.files) {
    if (file == "-") {
      if (!input_read) text += standard_input;
      input_read = true;
    } else {
      std::ifstream in(file, std::ios::binary);
      text.append(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    if (!text.empty() && text.back() != options.terminator) text.push_back(options.terminator);
  }
  std::vector<Line> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find(options.terminator, at);
    lines.push_back({text.data() + at, end - at});
    at = end + 1;
  }
  const Comparator comparator = plain_comparator(options);
  std::stable_sort(lines.begin(), lines.end(),
                   [&](Line a, Line b) { return comparator.compare(a, b) < 0; });
  std::string sorted;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (options.unique && i > 0 && comparator.compare(lines[i - 1], lines[i]) == 0) continue;
    sorted.append(lines[i].text, lines[i].length);
    sorted.push_back(options.terminator);
  }
  return sorted;
}

// A folder that disappears with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hoist-sort-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Locales of several kinds: bytes, byte order in UTF-8, collation rules with '.' and with ',' as
// decimal points, one-byte separators and letters outside ASCII. Compiled by localedef into a
// folder of their own; what cannot be compiled is left out.
class Locales {
 public:
  Locales() {
    names_ = {"C", "C.UTF-8"};
    compile("en_US", "UTF-8");
    compile("de_DE", "UTF-8");
    compile("fr_FR", "ISO-8859-1");
    setenv("LOCPATH", folder_.path().c_str(), 1);
  }
  ~Locales() {
    unsetenv("LOCPATH");
    unsetenv("LC_ALL");
    std::setlocale(LC_ALL, "C");
  }
  const std::vector<std::string>& names() const { return names_; }

  // For this process and its children.
  static void select(const std::string& name) {
    setenv("LC_ALL", name.c_str(), 1);
    ASSERT_NE(std::setlocale(LC_ALL, ""), nullptr) << name;
  }

  // One more, where it can be compiled.
  void compile(const std::string& language, const std::string& charset) {
    const std::string name = language + "." + charset;
    const ProgramResult made = run_program(
        {"localedef", "--no-archive", "-i", language, "-f", charset, folder_.path() + "/" + name});
    if (made.status == 0) names_.push_back(name);
  }

 private:
  TemporaryFolder folder_;
  std::vector<std::string> names_;
};

template <typename T>
const T& pick(const std::vector<T>& from, std::mt19937_64& random) {
  return from[random() % from.size()];
}

// The command line in a form to paste into a shell.
inline std::string shown(const std::vector<std::string>& argv) {
  std::string text;
  for (const std::string& argument : argv) text += "'" + argument + "' ";
  return text;
}

}  // namespace hoist::sort
