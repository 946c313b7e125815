#include "ops/hash/generate.h"

#include <cinttypes>

#include "ops/hash/file_name.h"
#include "ops/hash/messages.h"

namespace hoist::hash {
namespace {

uint64_t blocks(uint64_t bytes, uint64_t block_bytes) {
  return bytes / block_bytes + (bytes % block_bytes != 0);
}

void append_plain_sum(const Options& options, const FileJob& job, std::string& line) {
  const uint32_t number = job.result.digest.number();
  const uint64_t bytes = job.result.bytes;
  switch (*options.algorithm) {
    case Algorithm::bsd:
      line += format("%05" PRIu32 " %5" PRIu64, number, blocks(bytes, 1024));
      break;
    case Algorithm::sysv:
      line += format("%" PRIu32 " %" PRIu64, number, blocks(bytes, 512));
      break;
    default:
      line += format("%" PRIu32 " %" PRIu64, number, bytes);
  }
  if (options.has_files) (line += ' ') += job.name;
}

void append_digest(const Options& options, const FileJob& job, std::string& line) {
  const bool escaped = !options.zero && needs_escape(job.name);
  const std::string escaped_name = escaped ? escape_name(job.name) : std::string();
  const std::string& name = escaped ? escaped_name : job.name;
  if (escaped) line += '\\';
  if (options.tagged) {
    const AlgorithmInfo& algorithm = info(job.kind.algorithm);
    line += algorithm.tag;
    if (job.kind.bytes != algorithm.digest_bytes) {
      line += '-' + std::to_string(8 * job.kind.bytes);
    }
    ((line += " (") += name) += ") = ";
    job.result.digest.append_hex(line);
  } else {
    job.result.digest.append_hex(line);
    line += options.binary ? " *" : "  ";
    line += name;
  }
}

// cksum took a failed read for the end of the file up to 9.1.
bool read_errors_pass(const Options& options) {
  return options.algorithm == Algorithm::crc && options.dialect == Dialect::classic;
}

}  // namespace

bool generate(const Options& options, int threads, GpuHasher* gpu, Report& report,
              JobTotals& totals) {
  bool ok = true;
  size_t next_file = 0;
  std::string line;  // keeps its memory from job to job
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
    line.clear();
    if (is_plain_sum(job.kind.algorithm)) {
      append_plain_sum(options, job, line);
    } else {
      append_digest(options, job, line);
    }
    line += options.zero ? '\0' : '\n';
    report.output(line, !options.zero);
  };
  stream.flush = [&] { report.flush(); };
  totals = run_in_order(stream, threads, gpu);
  return ok;
}

}  // namespace hoist::hash
