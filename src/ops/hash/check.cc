#include "ops/hash/check.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <string_view>

#include "base/file.h"
#include "ops/hash/checksum_line.h"
#include "ops/hash/file_name.h"
#include "ops/hash/line_reader.h"
#include "ops/hash/messages.h"

namespace hoist::hash {
namespace {

// One checksum file.
class Checker {
 public:
  Checker(const Options& options, int threads, GpuHasher* gpu, ChecksumLineParser& parser,
          Report& report)
      : options_(options), threads_(threads), gpu_(gpu), parser_(parser), report_(report) {}

  bool run(const std::string& file, JobTotals& totals) {
    from_stdin_ = file == "-";
    shown_name_ = quote_name(from_stdin_ ? translate("standard input") : file);
    UniqueFd owned;
    if (!from_stdin_) {
      owned = UniqueFd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
      if (!owned.valid()) {
        report_.message(shown_name_, errno);
        return false;
      }
    }
    LineReader lines(from_stdin_ ? STDIN_FILENO : owned.get());
    JobStream stream;
    stream.next = [&](FileJob& job) { return next(lines, job); };
    stream.emit = [&](FileJob& job) { emit(job); };
    stream.flush = [&] { report_.flush(); };
    const JobTotals own = run_in_order(stream, threads_, gpu_);
    totals.bytes += own.bytes;
    totals.parallel |= own.parallel;
    if (lines.error() != 0) {
      report_.message(format(translate("%s: read error"), shown_name_.c_str()));
      return false;
    }
    return conclude();
  }

 private:
  bool next(LineReader& lines, FileJob& job) {
    std::string_view line;
    while (lines.next(line)) {
      job.line_number = ++line_number_;
      if (line.starts_with('#')) continue;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty()) continue;
      std::optional<ChecksumLine> parsed = parser_.parse(line);
      job.label = parser_.algorithm();
      // A checksum file on standard input cannot list standard input.
      job.malformed = !parsed || (from_stdin_ && parsed->name == "-");
      if (!job.malformed) {
        job.name = std::move(parsed->name);
        job.kind = parsed->kind;
        job.expected = parsed->expected;
      }
      return true;
    }
    return false;
  }

  void emit(const FileJob& job) {
    if (job.malformed) {
      emit_malformed(job);
      return;
    }
    any_formatted_ = true;
    const FileDigest& result = job.result;
    if (result.open_error == ENOENT && options_.ignore_missing) return;
    const int error = result.open_error != 0 ? result.open_error : result.read_error;
    if (error != 0) {
      report_.message(quote_name(job.name), error);
      ++unreadable_;
      emit_verdict(job, "FAILED open or read");
      return;
    }
    const bool matches = result.digest.starts_with(job.expected);
    any_matched_ |= matches;
    if (!matches) {
      ++mismatched_;
      emit_verdict(job, "FAILED");
    } else if (!options_.quiet) {
      emit_verdict(job, "OK");
    }
  }

  void emit_malformed(const FileJob& job) {
    ++malformed_;
    if (!options_.warn) return;
    report_.message(format(translate("%s: %" PRIuMAX ": improperly formatted %s checksum line"),
                           shown_name_.c_str(), static_cast<uintmax_t>(job.line_number),
                           info(job.label).tag));
  }

  void emit_verdict(const FileJob& job, const char* verdict) {
    if (options_.status_only) return;
    // Up to 9.1 only a newline made this output escape a name.
    const bool escaped = options_.dialect == Dialect::classic
                             ? job.name.find('\n') != std::string::npos
                             : needs_escape(job.name);
    std::string line = escaped ? '\\' + escape_name(job.name) : job.name;
    line += ": ";
    line += translate(verdict);
    line += '\n';
    report_.output(line, true);
  }

  bool conclude() {
    if (!any_formatted_) {
      report_.message(
          format(translate("%s: no properly formatted checksum lines found"), shown_name_.c_str()));
      return false;
    }
    const bool nothing_verified = options_.ignore_missing && !any_matched_;
    if (!options_.status_only) {
      warn_count(malformed_, "WARNING: %" PRIuMAX " line is improperly formatted",
                 "WARNING: %" PRIuMAX " lines are improperly formatted");
      warn_count(unreadable_, "WARNING: %" PRIuMAX " listed file could not be read",
                 "WARNING: %" PRIuMAX " listed files could not be read");
      warn_count(mismatched_, "WARNING: %" PRIuMAX " computed checksum did NOT match",
                 "WARNING: %" PRIuMAX " computed checksums did NOT match");
      if (nothing_verified) {
        report_.message(format(translate("%s: no file was verified"), shown_name_.c_str()));
      }
    }
    return !nothing_verified && mismatched_ == 0 && unreadable_ == 0 &&
           !(options_.strict && malformed_ > 0);
  }

  void warn_count(uintmax_t count, const char* singular, const char* plural) {
    if (count == 0) return;
    report_.message(format(translate(singular, plural, count), count));
  }

  const Options& options_;
  const int threads_;
  GpuHasher* const gpu_;
  ChecksumLineParser& parser_;
  Report& report_;
  bool from_stdin_ = false;
  std::string shown_name_;

  uint64_t line_number_ = 0;
  bool any_formatted_ = false;
  bool any_matched_ = false;
  uintmax_t malformed_ = 0;
  uintmax_t unreadable_ = 0;
  uintmax_t mismatched_ = 0;
};

}  // namespace

bool check(const Options& options, int threads, GpuHasher* gpu, Report& report, JobTotals& totals) {
  use_locale();
  bool ok = true;
  // What one checksum file settles holds for the next as well.
  ChecksumLineParser parser(options.algorithm, options.program == "cksum", options.dialect);
  for (const std::string& file : options.files) {
    ok &= Checker(options, threads, gpu, parser, report).run(file, totals);
  }
  return ok;
}

}  // namespace hoist::hash
