// One run of the program: its operands in order, each read, decoded and written as gzip does it.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ops/gunzip/file_sink.h"
#include "ops/gunzip/gzip_reader.h"
#include "ops/gunzip/input_buffer.h"
#include "ops/gunzip/listing.h"
#include "ops/gunzip/options.h"
#include "ops/gunzip/output_window.h"
#include "ops/gunzip/partial_file.h"
#include "ops/gunzip/report.h"
#include "takeover/run_choice.h"
#include "takeover/takeover.h"

namespace hoist::gunzip {

class Job {
 public:
  // The input's size in bytes where it is known, for the record of the run.
  Job(const Takeover& takeover, const Options& options, const RunChoice& choice,
      std::optional<uint64_t> input_bytes);

  // The exit status. Does not return when the original takes over.
  int run();

 private:
  // What becomes of the run after an operand.
  enum class Next {
    proceed,
    stop,      // at once, as gzip does after some errors
    original,  // the original does this operand and those that follow
  };

  // The operand at hand.
  struct Operand {
    std::string name;         // as messages name it
    std::string output_name;  // likewise
    int fd = -1;
    struct stat info = {};
    timespec time = {};  // of the output file and in the listing
    bool is_stdin = false;
    bool to_stdout = false;
    bool writes_stdout = false;
    off_t start = -1;  // of standard input, where it can be had again
    // Results.
    uint64_t size = 0;      // what came out of the last member
    uint64_t overhead = 0;  // see MemberHeader
    uint32_t crc = 0;
    bool failed = false;  // and reported; there is no output file
    // What followed the last member was no member: what it was instead.
    HeaderStatus end = HeaderStatus::end;
    bool ended_badly() const {
      return end != HeaderStatus::end && end != HeaderStatus::trailing_zeros &&
             end != HeaderStatus::trailing_garbage;
    }
  };

  // Operands, in job_operands.cc.
  Next process(const std::string& word);
  Next process_stdin();
  Next process_file(const std::string& path);
  bool open_input(const std::string& path, Operand& operand, UniqueFd& fd);
  Next push_directory(UniqueFd fd, const std::string& path);
  bool refuse(const Operand& operand);

  // Decoding one, in job.cc.
  HeaderMode header_mode(const Operand& operand) const;
  Next decode(Operand& operand);
  void note_header(Operand& operand, const MemberHeader& header);
  Next open_output(Operand& operand, const MemberHeader& header);
  Next decode_members(Operand& operand, MemberHeader& header, HeaderStatus status);
  Next between_members(Operand& operand, const MemberHeader& header, HeaderStatus status);
  Next close_output(Operand& operand);
  bool written(const Operand& operand);
  Next leave_to_original(const Operand& operand, const char* reason);

  // Messages, in job_report.cc.
  Next report_header(const Operand& operand, const MemberHeader& header, HeaderStatus status);
  Next report_member(Operand& operand, const MemberResult& result);
  Next report_input_ended(const Operand& operand);
  void report_done(const Operand& operand);

  int finish_output();
  int continue_with_original(const std::string& word);
  int start_over(const char* reason);
  void confirm();
  void count_work();
  void record_timing();
  bool writes() const { return !options_.test && !options_.list; }

  const Takeover& takeover_;
  const Options& options_;
  const RunChoice& choice_;
  const std::optional<uint64_t> input_bytes_;
  Report report_;
  Listing listing_;
  std::vector<std::string> pending_;  // operands, the next one last
  bool first_operand_ = true;
  bool confirmed_ = false;
  off_t stdin_start_ = -1;  // before the first use of standard input, where it can be had again

  InputBuffer input_;
  OutputWindow window_;
  GzipReader reader_;
  DiscardingSink nowhere_;
  FileSink file_sink_;
  PartialFile output_file_;

  std::string last_output_name_;
  uint64_t bytes_out_ = 0;
  uint64_t start_time_ = 0;
  uint64_t elapsed_ = 0;  // nanoseconds, from count_work() on
  const char* original_reason_ = "";
  uint64_t already_written_ = 0;  // what the original must not write again
  bool feed_original_ = false;    // with the rest of a pipe
};

}  // namespace hoist::gunzip
