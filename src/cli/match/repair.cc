// hoist match repair.
#include "match/index/repair.h"

#include <fmt/core.h>

#include <filesystem>

#include "cli/match/commands.h"
#include "cli/match/new_folder.h"
#include "cli/report.h"

namespace hoist::cli {
namespace {

Result<match::RepairReport> repair(const std::string& path, const std::string& output, bool force) {
  std::error_code ignored;
  if (std::filesystem::equivalent(path, output, ignored)) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("the damaged index would be replaced ({}): choose another name", output));
  }
  NewFolder folder(output, force);
  if (Status allowed = folder.check(path); !allowed) return allowed.error();
  auto repaired = match::repair_index(path, folder.temporary());
  if (!repaired) return repaired;
  if (Status published = folder.publish(); !published) return published.error();
  return repaired;
}

std::string lost_text(const match::RepairReport& report) {
  if (!report.is_lost_known) return "how many were lost is not known";
  if (report.lost == 0) return "none lost";
  if (report.without_symbols == 0) return fmt::format("{} lost", report.lost);
  return fmt::format("{} lost, of which {} for a symbol that is damaged", report.lost,
                     report.without_symbols);
}

}  // namespace

int match_repair(const std::string& path, const std::string& output, bool force, bool json) {
  const auto repaired = repair(path, output, force);
  if (!repaired) return report(repaired.error());
  if (json) {
    fmt::print("{{\"saved\": {}, \"lost\": {}, \"without_symbols\": {}, \"damaged\": {}}}\n",
               repaired->saved,
               repaired->is_lost_known ? std::to_string(repaired->lost) : std::string("null"),
               repaired->without_symbols, repaired->is_damaged);
  } else {
    fmt::print("{}: {} patterns saved, {}{}\n", output, repaired->saved, lost_text(*repaired),
               repaired->is_damaged ? "" : "; nothing is damaged");
  }
  return kDone;
}

}  // namespace hoist::cli
