#include "ops/hash/generate.h"

#include <cinttypes>

#include "ops/hash/file_name.h"
#include "ops/hash/messages.h"

namespace hoist::hash {
namespace {

uint64_t blocks(uint64_t bytes, uint64_t block_bytes) {
  return bytes / block_bytes + (bytes % block_bytes != 0);
}

std::string plain_sum_line(const Options& options, const FileJob& job) {
  const uint32_t number = job.result.digest.number();
  const uint64_t bytes = job.result.bytes;
  std::string line;
  switch (*options.algorithm) {
    case Algorithm::bsd:
      line = format("%05" PRIu32 " %5" PRIu64, number, blocks(bytes, 1024));
      break;
    case Algorithm::sysv:
      line = format("%" PRIu32 " %" PRIu64, number, blocks(bytes, 512));
      break;
    default:
      line = format("%" PRIu32 " %" PRIu64, number, bytes);
  }
  if (options.has_files) line += ' ' + job.name;
  return line;
}

std::string digest_line(const Options& options, const FileJob& job) {
  const bool escaped = !options.zero && needs_escape(job.name);
  const std::string name = escaped ? escape_name(job.name) : job.name;
  std::string line;
  line.reserve(2 * job.kind.bytes + name.size() + 24);
  if (escaped) line += '\\';
  if (options.tagged) {
    const AlgorithmInfo& algorithm = info(job.kind.algorithm);
    line += algorithm.tag;
    if (job.kind.bytes != algorithm.digest_bytes) {
      line += '-' + std::to_string(8 * job.kind.bytes);
    }
    line += " (" + name + ") = " + job.result.digest.hex();
  } else {
    line += job.result.digest.hex();
    line += options.binary ? " *" : "  ";
    line += name;
  }
  return line;
}

// cksum took a failed read for the end of the file up to 9.1.
bool read_errors_pass(const Options& options) {
  return options.algorithm == Algorithm::crc && options.dialect == Dialect::classic;
}

}  // namespace

bool generate(const Options& options, Report& report, JobTotals& totals) {
  bool ok = true;
  size_t next_file = 0;
  JobStream stream;
  stream.count = options.files.size();
  stream.next = [&](FileJob& job) {
    if (next_file == options.files.size()) return false;
    job.name = options.files[next_file++];
    job.kind = {*options.algorithm, options.digest_bytes};
    return true;
  };
  stream.emit = [&](FileJob& job) {
    const FileDigest& result = job.result;
    const int error = result.open_error != 0      ? result.open_error
                      : read_errors_pass(options) ? 0
                                                  : result.read_error;
    if (error != 0) {
      report.message(quote_name(job.name), error);
      ok = false;
      return;
    }
    std::string line =
        is_plain_sum(job.kind.algorithm) ? plain_sum_line(options, job) : digest_line(options, job);
    line += options.zero ? '\0' : '\n';
    report.output(line, !options.zero);
  };
  stream.flush = [&] { report.flush(); };
  totals = run_in_order(stream);
  return ok;
}

}  // namespace hoist::hash
