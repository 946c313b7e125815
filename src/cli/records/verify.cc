#include "container/verify.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/container/damage_report.h"
#include "cli/container/progress.h"
#include "cli/records/commands.h"
#include "cli/records/state.h"
#include "cli/report.h"
#include "container/foreign.h"
#include "records/file_format.h"
#include "records/reader.h"

namespace hoist::cli {
namespace {

using nlohmann::ordered_json;

bool only_unfinished(const container::VerifyReport& report) {
  return !report.ok() && report.damage_count == report.damage.size() &&
         std::all_of(report.damage.begin(), report.damage.end(), [](const auto& damage) {
           return damage.kind == container::DamageKind::unfinished;
         });
}

// Whether somebody has it open to add rows.
bool is_being_written(const std::string& path) {
  const Result<UniqueFd> file = open_file(path, O_RDONLY);
  return file && ::flock(file->get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

// Bytes that somebody is writing behind the last commit just now. Without a writer the same bytes
// may be the rest of a commit that was damaged, so they are damage there.
uint64_t unfinished_bytes(const std::string& path, const container::VerifyReport& report) {
  if (!only_unfinished(report) || !is_being_written(path)) return 0;
  const Result<records::RecordReader> reader = records::RecordReader::open(path, {});
  if (!reader || !reader->check_whole()) return 0;
  warn_of_state(*reader);
  return report.damage.front().size;
}

struct Verified {
  container::VerifyReport report;
  uint64_t unfinished_bytes = 0;

  bool ok() const { return report.ok() || unfinished_bytes > 0; }
};

Result<Verified> verify_file(const std::string& path) {
  Result<std::unique_ptr<container::Source>> source = container::open_file_source(path);
  if (!source) return source.error();
  ProgressLine line(path);
  container::VerifyOptions options;
  options.progress = [&](uint64_t done, uint64_t total) { line.update(done, total); };
  Result<container::VerifyReport> report = container::verify(**source, options);
  if (!report) return report.error();
  if (report->header && report->header->kind != records::kFileKind) {
    return fail(
        ErrorCode::corrupt,
        fmt::format("a container that holds no records ({}): use `hoist container verify`", path));
  }
  if (report->blocks > 0) {
    const uint64_t unfinished = unfinished_bytes(path, *report);
    return Verified{std::move(*report), unfinished};
  }
  const Result<bool> foreign = container::is_foreign(**source);
  if (!foreign) return foreign.error();
  if (*foreign) return container::not_a_container(**source);
  return Verified{std::move(*report)};
}

void print_text(const std::string& path, const Verified& verified) {
  const container::VerifyReport& report = verified.report;
  fmt::print("{}: {}, {} blocks, {} bytes\n", path, verified.ok() ? "OK" : "DAMAGED", report.blocks,
             report.file_size);
  if (!verified.ok()) fmt::print("{}", damage_text(report.damage, report.damage_count));
}

ordered_json report_json(const std::string& path, const Verified& verified) {
  const container::VerifyReport& report = verified.report;
  const bool ok = verified.ok();
  return {{"file", path},
          {"ok", ok},
          {"bytes", report.file_size},
          {"blocks", report.blocks},
          {"text_bytes", report.raw_bytes},
          {"unfinished_bytes", verified.unfinished_bytes},
          {"damage_count", ok ? 0 : report.damage_count},
          {"damage", damage_json(ok ? std::vector<container::Damage>() : report.damage)}};
}

}  // namespace

int records_verify_command(const RecordsVerifyOptions& options) {
  int status = kDone;
  ordered_json all = ordered_json::array();
  for (const std::string& path : options.files) {
    const Result<Verified> report = verify_file(path);
    if (!report) {
      status = std::max<int>(status, cli::report(report.error()));
      all.push_back({{"file", path}, {"ok", false}, {"error", report.error().message}});
      continue;
    }
    if (options.json) {
      all.push_back(report_json(path, *report));
    } else {
      print_text(path, *report);
    }
    if (report->ok()) continue;
    const std::string_view what =
        only_unfinished(report->report)
            ? "bytes behind the last commit ({}): an `append` died, and another one goes on, or "
              "the "
              "last commit is damaged, and `hoist records repair` saves what is whole"
            : "damaged file of records ({}): get it again, or save what is whole with `hoist "
              "records repair`";
    status = std::max<int>(
        status, cli::report({ErrorCode::corrupt, fmt::format(fmt::runtime(what), path)}));
  }
  if (options.json) {
    fmt::print(
        "{}\n",
        ordered_json({{"files", all}}).dump(2, ' ', false, ordered_json::error_handler_t::replace));
  }
  return status;
}

}  // namespace hoist::cli
