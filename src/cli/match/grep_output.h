// How `hoist match grep` prints lines: as text with grep's separators and colours, or as JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "match/lines/line_scorer.h"

namespace hoist::cli {

struct GrepLook {
  bool with_names = false;
  bool with_numbers = false;
  bool color = false;
  bool json = false;
};

struct GrepLine {
  std::string_view file;
  uint64_t number;  // from 1
  std::string_view text;
  std::optional<double> score;  // none where it was not asked for
  bool is_context = false;
};

class GrepOutput {
 public:
  // `scorer` tells which parts of a line are coloured.
  GrepOutput(const GrepLook& look, const match::LineScorer& scorer)
      : look_(look), scorer_(scorer) {}

  void line(const GrepLine& line);
  void count(std::string_view file, uint64_t lines);
  // Between lines that do not follow one another.
  void gap();

  // Writes what was printed so far. False once the reader has closed the pipe or writing failed.
  bool flush();
  bool is_open() const { return is_open_; }
  // Success also where the reader has closed the pipe.
  const Status& status() const { return status_; }

 private:
  void name(std::string_view file, char separator);
  void separator(char separator);
  void colored(std::string_view code, std::string_view text);
  void text(const GrepLine& line);
  void json(const GrepLine& line);
  void write_full_buffers();

  GrepLook look_;
  const match::LineScorer& scorer_;
  std::string out_;
  bool is_open_ = true;
  Status status_;
};

}  // namespace hoist::cli
