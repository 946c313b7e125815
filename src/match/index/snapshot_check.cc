#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "container/index.h"
#include "container/verify.h"
#include "match/index/snapshot.h"

namespace hoist::match {
namespace {

Status check(const container::Source& source) {
  const uint64_t size = source.size();
  const auto report = container::verify(source, {.limits = {.index = size, .block = size}});
  if (!report) return report.error();
  uint64_t committed = size;
  for (const container::Damage& damage : report->damage) {
    if (damage.kind == container::DamageKind::unfinished) committed = damage.offset;
  }
  const auto has_more = container::has_commit_behind(source, committed);
  if (!has_more) return has_more.error();
  const auto is_left_from_a_crash = [&](const container::Damage& damage) {
    return committed > 0 && damage.offset >= committed && !*has_more;
  };
  const auto found =
      std::find_if_not(report->damage.begin(), report->damage.end(), is_left_from_a_crash);
  if (found == report->damage.end()) return {};
  return fail(ErrorCode::corrupt, fmt::format("damaged snapshot ({} at {}: {})", source.name(),
                                              found->offset, found->what));
}

}  // namespace

Status check_snapshot(const std::string& path) {
  for (;;) {
    const auto source = container::open_file_source(path);
    if (!source) return source.error();
    Status checked = check(**source);
    std::error_code error;
    const uint64_t size_now = std::filesystem::file_size(path, error);
    // What grew or was replaced meanwhile may have been in the middle of a save.
    if (checked || error || size_now == (*source)->size()) return checked;
  }
}

}  // namespace hoist::match
