// Messages on standard error and the exit status that follows from them, worded as gzip words them
// (gzip 1.12 has no translations).
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace hoist::gunzip {

// "a.gz: No such file or directory".
std::string error_text(const std::string& name, int error);

class Report {
 public:
  Report(std::string program, bool quiet) : program_(std::move(program)), quiet_(quiet) {}

  static constexpr int kOk = 0;
  static constexpr int kError = 1;
  static constexpr int kWarning = 2;

  // "gzip: " and the text; the exit status becomes 1.
  void error(std::string_view text);
  // The same after an empty line, as gzip does where it may have begun a line.
  void error_on_new_line(std::string_view text);
  // Exit status 2 unless it is 1; nothing is shown under -q.
  void warning(std::string_view text);
  void warning_on_new_line(std::string_view text);
  // "gzip: " and the text, whatever -q says; status 2 unless it is 1.
  void loud_warning(std::string_view text);
  // "gzip: " and the text, without consequences.
  void note(std::string_view text);
  // As it is.
  void print(std::string_view text);
  // Printed before the next message, should one come.
  void begin_line(std::string text) { line_begin_ = std::move(text); }

  int exit_status() const { return exit_status_; }
  // Adds the status of the original where it has done a part.
  void merge(int status);

  // Keeps everything back until release().
  void hold() { held_ = true; }
  void release();
  bool holds_messages() const { return !pending_.empty(); }

 private:
  void warn() { merge(kWarning); }

  std::string program_;
  bool quiet_;
  bool held_ = false;
  std::string pending_;
  std::string line_begin_;
  int exit_status_ = kOk;
};

}  // namespace hoist::gunzip
