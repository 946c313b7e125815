#include "ops/gunzip/job.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "base/counters.h"
#include "base/crash_fallback.h"
#include "ops/gunzip/file_name.h"
#include "ops/gunzip/original.h"
#include "placement/record.h"

namespace hoist::gunzip {
namespace {

uint64_t now_in_nanoseconds() {
  return static_cast<uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

// What messages begin with. The scripts gunzip and zcat run gzip, which uses its own name.
std::string message_name(const Takeover& takeover) {
  if (takeover.program != "gzip" || takeover.argv.empty()) return "gzip";
  std::string_view name = last_component(takeover.argv[0]);
  if (name.size() > 4 && name.ends_with(".exe")) name.remove_suffix(4);
  return std::string(name);
}

}  // namespace

Job::Job(const Takeover& takeover, const Options& options, const RunChoice& choice,
         std::optional<uint64_t> input_bytes)
    : takeover_(takeover),
      options_(options),
      choice_(choice),
      input_bytes_(input_bytes),
      report_(message_name(takeover), options.quiet),
      listing_(options.verbose, options.quiet),
      pending_(options.operands.rbegin(), options.operands.rend()),
      reader_(input_, window_),
      file_sink_(choice.threads) {
  if (pending_.empty()) pending_.push_back("-");
  if (options_.list) report_.hold();
}

int Job::run() {
  start_time_ = now_in_nanoseconds();
  if (!options_.to_stdout) remove_partial_file_on_signals();
  for (; !pending_.empty(); first_operand_ = false) {
    const std::string word = std::move(pending_.back());
    pending_.pop_back();
    const Next next = process(word);
    if (next == Next::stop) {
      output_file_.discard();
      return finish_output();
    }
    if (next == Next::original) {
      if (output_file_.is_open()) output_file_.discard();
      return continue_with_original(word);
    }
  }
  if (!options_.quiet && options_.operands.size() > 1) listing_.add_totals();
  const int status = finish_output();
  if (options_.to_stdout && ::close(STDOUT_FILENO) != 0 && errno != EBADF) {
    report_.error_on_new_line(error_text(last_output_name_, errno));
    return report_.exit_status();
  }
  return status;
}

HeaderMode Job::header_mode(const Operand& operand) const {
  const bool forced = options_.force && operand.to_stdout;
  return {.copy_through = forced && !options_.list, .short_allowed = forced};
}

Job::Next Job::decode(Operand& operand) {
  commit_run_unless_rereadable(operand.fd);
  FdSource source(operand.fd);
  input_.attach(source);
  reader_.restart();
  HeaderMode mode = header_mode(operand);
  mode.keep_name = options_.restore_name && (!operand.to_stdout || options_.list);
  MemberHeader header;
  const HeaderStatus status = reader_.next_member(mode, header);
  listing_.set_overhead(0);
  if (status == HeaderStatus::foreign) return leave_to_original(operand, "another format");
  if (header.name && !restored_name(operand.name, *header.name)) {
    if (status == HeaderStatus::member) return leave_to_original(operand, "unusual stored name");
  }
  note_header(operand, header);
  if (status != HeaderStatus::member && status != HeaderStatus::literal) {
    const Next next = report_header(operand, header, status);
    return operand.is_stdin ? Next::stop : next;
  }
  if (const Next next = open_output(operand, header); next != Next::proceed || operand.failed) {
    return next;
  }
  if (!options_.list) confirm();
  if (options_.verbose && !options_.list && !operand.is_stdin) {
    report_.begin_line(operand.name + ":\t");
  }
  operand.overhead = header.overhead;
  if (const Next next = decode_members(operand, header, status); next != Next::proceed) return next;
  if (!written(operand)) return Next::stop;
  if (const Next next = close_output(operand); next != Next::proceed) return next;
  report_done(operand);
  return Next::proceed;
}

// What a header means for the operand, whether or not it is of use otherwise.
void Job::note_header(Operand& operand, const MemberHeader& header) {
  if (header.extra_field_size && options_.verbose) {
    report_.note(operand.name + ": extra field of " + std::to_string(*header.extra_field_size) +
                 " bytes ignored");
  }
  if (options_.restore_name && header.modification_time != 0) {
    operand.time = {.tv_sec = header.modification_time, .tv_nsec = 0};
  }
}

Job::Next Job::open_output(Operand& operand, const MemberHeader& header) {
  if (header.name) {
    operand.output_name = restored_name(operand.is_stdin ? "" : operand.name, *header.name).value();
  }
  last_output_name_ = operand.output_name;
  if (!writes()) {
    window_.attach(nowhere_);
    return Next::proceed;
  }
  if (operand.to_stdout) {
    operand.writes_stdout = true;
    file_sink_.redirect(STDOUT_FILENO);
    window_.attach(file_sink_);
    return Next::proceed;
  }
  int error = output_file_.create(operand.output_name);
  if (error == EEXIST && options_.force) {
    commit_run();
    error = ::unlink(operand.output_name.c_str()) == 0 ? output_file_.create(operand.output_name)
                                                       : errno;
  } else if (error == EEXIST) {
    if (::isatty(STDIN_FILENO)) return leave_to_original(operand, "a question to the user");
    report_.loud_warning(operand.output_name + " already exists;\tnot overwritten");
    operand.failed = true;
    return Next::proceed;
  }
  // The original opens more files, or fewer, and fails where it fails.
  if (error == EMFILE || error == ENFILE) return leave_to_original(operand, "too few descriptors");
  if (error != 0) {
    report_.error(error_text(operand.output_name, error));
    operand.failed = true;
    return Next::proceed;
  }
  file_sink_.redirect(output_file_.fd());
  window_.attach(file_sink_);
  return Next::proceed;
}

Job::Next Job::decode_members(Operand& operand, MemberHeader& header, HeaderStatus status) {
  const HeaderMode mode = header_mode(operand);
  for (;;) {
    const bool literal = status == HeaderStatus::literal;
    const MemberResult result = literal ? reader_.copy_rest() : reader_.read_member();
    operand.size = result.size;
    operand.crc = result.stored_crc;
    bytes_out_ += result.size;
    if (!literal || result.status != InflateStatus::done) {
      const Next next = report_member(operand, result);
      if (next != Next::proceed || operand.failed) return next;
    }
    if (literal) return Next::proceed;
    status = reader_.next_member(mode, header);
    if (status == HeaderStatus::end) return Next::proceed;
    operand.overhead = 0;  // gzip has forgotten it by now
    note_header(operand, header);
    if (status == HeaderStatus::member || status == HeaderStatus::literal) continue;
    return between_members(operand, header, status);
  }
}

Job::Next Job::between_members(Operand& operand, const MemberHeader& header, HeaderStatus status) {
  if (status == HeaderStatus::foreign) return leave_to_original(operand, "another format");
  if (!written(operand)) return Next::stop;
  operand.end = status;
  return report_header(operand, header, status);
}

bool Job::written(const Operand& operand) {
  if (!writes()) return true;
  window_.flush();
  const int error = file_sink_.drain();
  if (error != 0) report_.error_on_new_line(error_text(operand.output_name, error));
  return error == 0;
}

Job::Next Job::close_output(Operand& operand) {
  if (!output_file_.is_open()) return Next::proceed;
  const std::string& name = operand.output_name;
  const PartialFile::Attributes attributes =
      output_file_.copy_attributes(operand.info, operand.time);
  if (attributes.times_errno != 0) report_.warning(error_text(name, attributes.times_errno));
  if (attributes.mode_errno != 0) report_.warning(error_text(name, attributes.mode_errno));
  if (const int error = output_file_.finish(); error != 0) {
    report_.error_on_new_line(error_text(name, error));
    return Next::stop;
  }
  commit_run();  // the original would find the file there, or its input gone
  if (!options_.keep) {
    const int error = output_file_.replace(operand.name);
    if (error != 0) report_.warning(error_text(operand.name, error));
  } else if (operand.ended_badly()) {
    output_file_.discard();  // gzip does so under -k only
  }
  return Next::proceed;
}

// The original starts on the operand afresh, except on a pipe, where it gets what is left.
Job::Next Job::leave_to_original(const Operand& operand, const char* reason) {
  original_reason_ = reason;
  report_.begin_line({});
  if (operand.is_stdin && operand.start < 0) {
    feed_original_ = true;
    return written(operand) ? Next::original : Next::stop;
  }
  if (operand.is_stdin) ::lseek(STDIN_FILENO, operand.start, SEEK_SET);
  if (!operand.writes_stdout) return Next::original;
  const int error = file_sink_.drain();
  if (error != 0) {
    report_.error_on_new_line(error_text(operand.output_name, error));
    return Next::stop;
  }
  already_written_ = file_sink_.written();
  return Next::original;
}

int Job::finish_output() {
  if (options_.list) {
    if (report_.holds_messages() && ::isatty(STDOUT_FILENO)) {
      return start_over("messages between lines of a listing");
    }
    confirm();
    report_.release();
    const std::string& text = listing_.text();
    commit_run();
    if (const Status status = write_full(STDOUT_FILENO, text.data(), text.size()); !status) {
      report_.error_on_new_line(error_text(last_output_name_, status.error().system_errno));
    }
  }
  count_work();
  record_timing();
  return report_.exit_status();
}

int Job::continue_with_original(const std::string& word) {
  // Nothing done yet: the arguments as they were. Listings come out in one piece at the end.
  if ((first_operand_ || options_.list) && already_written_ == 0 && !feed_original_) {
    return start_over(original_reason_);
  }
  commit_run();
  count_work();
  pending_.push_back(word);
  const std::vector<std::string> arguments = to_arguments(
      takeover_.argv[0], options_, std::vector<std::string>(pending_.rbegin(), pending_.rend()));
  report_.merge(
      feed_original_
          ? run_original_on_rest(takeover_, arguments, original_reason_, reader_.magic(), input_)
          : run_original(takeover_, arguments, original_reason_, already_written_));
  return report_.exit_status();
}

// With the original, as if we had not been there.
int Job::start_over(const char* reason) {
  if (stdin_start_ >= 0) ::lseek(STDIN_FILENO, stdin_start_, SEEK_SET);
  return step_aside(takeover_, kOperation, reason);
}

void Job::confirm() {
  if (!confirmed_) confirm_takeover(takeover_, choice_.reason);
  confirmed_ = true;
}

void Job::count_work() {
  const uint64_t known = std::min(bytes_out_, file_sink_.reported());
  elapsed_ = now_in_nanoseconds() - start_time_;
  Counters::process().add_call(kOperation, file_sink_.used_thread() ? "cpu-all" : "cpu-1",
                               bytes_out_ - known, elapsed_);
}

// Records how long a run took that decoded all of its input.
void Job::record_timing() {
  if (!input_bytes_ || options_.list || report_.exit_status() != 0) return;
  placement::record(kOperation, "gzip", choice_.threads > 1 ? "cpu-all" : "cpu-1",
                    {*input_bytes_, std::max<uint64_t>(options_.operands.size(), 1)},
                    static_cast<double>(elapsed_) * 1e-9);
}

}  // namespace hoist::gunzip
