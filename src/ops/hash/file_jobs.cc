#include "ops/hash/file_jobs.h"

#include <utility>

#include "ops/hash/ordered_run.h"

namespace hoist::hash {
namespace {

// Below both of these starting threads costs more than they save.
constexpr uint64_t kSerialFiles = 32;
constexpr uint64_t kSerialBytes = 512 << 10;

bool is_worth_threads(const JobStream& stream, const FileJob& job, uint64_t done) {
  const bool is_listed = stream.count != UINT64_MAX;
  if (done >= kSerialFiles || (is_listed && stream.count > kSerialFiles)) return true;
  if (job.malformed || done + 1 >= stream.count) return false;
  const FileGlance seen = glance_at(job.name);
  return seen.independent && seen.bytes >= kSerialBytes;
}

}  // namespace

JobTotals run_in_order(const JobStream& stream, int threads, GpuHasher* gpu) {
  JobTotals totals;
  const Company alone = threads > 1 ? Company::reader : Company::none;
  FileJob job;
  for (uint64_t done = 0; stream.next(job); ++done, job = FileJob()) {
    if ((threads > 1 || gpu != nullptr) && is_worth_threads(stream, job, done)) {
      totals.parallel = threads > 1;
      totals.bytes += OrderedRun(stream, std::move(job), gpu).run(threads);
      return totals;
    }
    if (!job.malformed) job.result = hash_file(job.name, job.kind, 0, alone);
    totals.bytes += job.result.bytes - job.result.reported;
    stream.emit(job);
    stream.flush();
  }
  return totals;
}

}  // namespace hoist::hash
