#include "container/verify.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/file.h"
#include "cli/container/damage_report.h"
#include "cli/container/progress.h"
#include "cli/records/commands.h"
#include "cli/report.h"
#include "container/file_lock.h"
#include "container/foreign.h"
#include "records/file_format.h"
#include "records/reader.h"

namespace hoist::cli {
namespace {

using nlohmann::ordered_json;

enum class State : uint8_t { whole, being_written, unfinished, uncommitted, damaged };

std::string_view name(State state) {
  constexpr std::string_view kNames[] = {"whole", "being written", "unfinished", "uncommitted",
                                         "damaged"};
  return kNames[static_cast<size_t>(state)];
}

// Where the bytes behind the last commit begin, if all damage lies there; 0 where there is no
// commit.
std::optional<uint64_t> tail_of(const container::VerifyReport& report) {
  const std::vector<container::Damage>& damage = report.damage;
  const auto tail = std::find_if(damage.begin(), damage.end(), [](const auto& found) {
    return found.kind == container::DamageKind::unfinished;
  });
  if (tail == damage.end() || report.damage_count != damage.size()) return std::nullopt;
  const bool is_all = std::all_of(damage.begin(), damage.end(),
                                  [&](const auto& found) { return found.offset >= tail->offset; });
  return is_all ? std::optional(tail->offset) : std::nullopt;
}

// Whether somebody has it open to add rows.
bool is_being_written(const std::string& path) {
  const Result<UniqueFd> file = open_file(path, O_RDONLY);
  return file && container::has_writer(file->get());
}

struct Verified {
  container::VerifyReport report;
  State state = State::whole;
  uint64_t unfinished_bytes = 0;

  bool ok() const { return state == State::whole || state == State::being_written; }
};

// Bytes behind the last commit that somebody is writing just now are no damage. Without a writer
// the same bytes may be the rest of a commit that was damaged.
Verified judge(const std::string& path, container::VerifyReport report) {
  Verified verified{.report = std::move(report)};
  if (verified.report.ok()) return verified;
  const std::optional<uint64_t> tail = tail_of(verified.report);
  verified.state = !tail ? State::damaged : *tail == 0 ? State::uncommitted : State::unfinished;
  if (verified.state != State::unfinished) return verified;
  const Result<records::RecordReader> reader = records::RecordReader::open(path, {.partial = true});
  if (!reader || !reader->check_whole()) {
    verified.state = State::damaged;  // a commit lies behind it
    return verified;
  }
  verified.unfinished_bytes = verified.report.file_size - *tail;
  if (is_being_written(path)) verified.state = State::being_written;
  return verified;
}

Result<Verified> verify_once(const std::string& path) {
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
  if (report->blocks > 0) return judge(path, std::move(*report));
  const Result<bool> foreign = container::is_foreign(**source);
  if (!foreign) return foreign.error();
  if (*foreign) return container::not_a_container(**source);
  return judge(path, std::move(*report));
}

// What a writer did to a file that somebody looks at is no damage: it is looked at again.
Result<Verified> verify_file(const std::string& path) {
  constexpr int kMostLooks = 20;
  const auto stamp = [&] {
    struct stat info {};
    (void)::stat(path.c_str(), &info);
    return std::tuple(info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  };
  for (int look = 1;; ++look) {
    const auto before = stamp();
    Result<Verified> verified = verify_once(path);
    const bool is_good = verified && verified->ok();
    if (is_good || stamp() == before || look == kMostLooks) return verified;
  }
}

void print_text(const std::string& path, const Verified& verified) {
  const container::VerifyReport& report = verified.report;
  const std::string_view word = verified.ok()                          ? "OK"
                                : verified.state == State::unfinished  ? "UNFINISHED"
                                : verified.state == State::uncommitted ? "NOT COMMITTED"
                                                                       : "DAMAGED";
  fmt::print("{}: {}, {} blocks, {} bytes\n", path, word, report.blocks, report.file_size);
  if (!verified.ok()) fmt::print("{}", damage_text(report.damage, report.damage_count));
}

Status verdict(const std::string& path, const Verified& verified) {
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::corrupt, fmt::format("{}: {}", path, what));
  };
  switch (verified.state) {
    case State::whole:
      return {};
    case State::being_written:
      warn(
          fmt::format("{}: somebody is adding rows just now; {} bytes behind the last commit are "
                      "not checked",
                      path, verified.unfinished_bytes));
      return {};
    case State::unfinished:
      return wrong(fmt::format(
          "all rows up to the last commit are whole, and {} bytes follow it. Either an `append` "
          "was cut off: then the next one removes them. Or the last commit is damaged: then "
          "`hoist records repair` saves its rows",
          verified.unfinished_bytes));
    case State::uncommitted:
      return wrong(
          "there is no commit: the file was not finished, or its end is lost. `hoist records "
          "repair` saves the rows that are whole");
    case State::damaged:
      break;
  }
  return wrong(
      "damaged: get the file again, or save the rows that are whole with `hoist records repair`");
}

ordered_json report_json(const std::string& path, const Verified& verified) {
  const container::VerifyReport& report = verified.report;
  const bool ok = verified.ok();
  return {{"file", path},
          {"ok", ok},
          {"state", name(verified.state)},
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
    if (const Status said = verdict(path, *report); !said) {
      status = std::max<int>(status, cli::report(said.error()));
    }
  }
  if (options.json) {
    fmt::print(
        "{}\n",
        ordered_json({{"files", all}}).dump(2, ' ', false, ordered_json::error_handler_t::replace));
  }
  return status;
}

}  // namespace hoist::cli
