#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/counters.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/option_values.h"
#include "cli/child.h"
#include "cli/commands.h"
#include "cli/openssl_config.h"
#include "cli/report.h"
#include "cli/segments.h"
#include "cli/stats_file.h"
#include "cli/tree.h"
#include "cli/verdict.h"
#include "placement/operation.h"
#include "placement/refine.h"
#include "takeover/enabled_operations.h"
#include "takeover/gpu_hint.h"
#include "takeover/switched_off.h"

namespace hoist::cli {
namespace {

bool is_watched(const RunOptions& options) {
  return options.stats || options.explain || options.verify.has_value();
}

Status check(const RunOptions& options) {
  if (options.program.empty()) {
    return fail(ErrorCode::invalid_argument,
                "no program to run (hoist run): write `hoist run -- PROGRAM ARGS…`");
  }
  if (const std::optional<std::string> name = unknown_operation(options.operations)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("no operation {} (--ops): `hoist options` lists them", *name));
  }
  if (options.verify && !(*options.verify >= 0 && *options.verify <= 1)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("no rate {} (--verify): give a share of the calls, from 0 to 1",
                            *options.verify));
  }
  return {};
}

// `list` with one of our libraries in it, once, as `entry`. Other words keep their places; another
// tree's library of that name gives way to ours, for it would start that tree's engines.
std::string with_our_library(const std::string& list, const std::string& library,
                             const std::string& entry) {
  constexpr const char* kSeparators = ": ";
  const auto is_this = [&](const std::string& word) {
    std::error_code error;
    return word == entry || std::filesystem::equivalent(word, library, error);
  };
  std::string out;
  bool ours = false;
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find_first_of(kSeparators, at), list.size());
    const std::string word = list.substr(at, end - at);
    at = std::min(list.find_first_not_of(kSeparators, end), list.size());
    if (word.empty()) continue;
    const bool of_our_name =
        std::filesystem::path(word).filename() == std::filesystem::path(entry).filename();
    const bool is_ours = is_this(word) || of_our_name;
    if (is_ours && ours) continue;
    ours |= is_ours;
    if (!out.empty()) out += ':';
    out += is_ours && !is_this(word) ? entry : word;
  }
  if (ours) return out;
  return out.empty() ? entry : out + ":" + entry;
}

Status preload(const std::string& library) {
  const Result<std::string> entry = preload_entry(library);
  if (!entry) return entry.error();
  const char* given = std::getenv("LD_PRELOAD");
  const std::string list = with_our_library(given != nullptr ? given : "", library, *entry);
  ::setenv("LD_PRELOAD", list.c_str(), 1);
  return {};
}

Status preload_libraries() {
  Status done = preload(preload_library());
  if (!done || hoist_is_off()) return done;
  if (operation_enabled(HOIST_MEMCPY)) {
    done = preload(preload_library("memcpy"));
  }
  if (done && operation_enabled(HOIST_GEMM) && hoist_gpu_may_serve()) {
    done = preload(preload_library("blas"));
  }
  return done;
}

// Nobody asked for a word of ours where nothing is watched: then the log file alone is told.
void tell(const RunOptions& options, const std::string& what) {
  if (is_watched(options)) {
    warn(what);
  } else if (*option_text(OptionId::log_file) != '\0') {
    log(LogLevel::warn, "{}", what);
  }
}

// Programs that use OpenSSL find our provider through their configuration, where it is asked for.
void configure_openssl(const RunOptions& options) {
  if (!operation_enabled(HOIST_AES)) return;
  const Result<std::string> folder = Counters::directory();
  Result<std::string> configuration = folder;
  if (const std::optional<std::string> note = switched_off("aes")) {
    configuration = fail(ErrorCode::unavailable, *note);
  } else if (configuration) {
    configuration = openssl_configuration(*folder, openssl_provider());
  }
  if (configuration) {
    ::setenv("OPENSSL_CONF", configuration->c_str(), 1);
    return;
  }
  const std::string what = "OpenSSL runs as it is: " + configuration.error().message;
  // That there is no place for a file is no fault of who asked for it.
  const bool has_place = folder && configuration.error().code != ErrorCode::io;
  if (has_place) {
    warn(what);
  } else {
    tell(options, what);
  }
}

// Between runs: what earlier ones noted moves the profile. A failure costs nothing but precision.
void refine_profile() {
  if (hoist_is_off()) return;
  const Result<bool> refined = placement::refine_profile(placement::Registry::process());
  if (!refined) log(LogLevel::info, "profile: {}", refined.error().message);
}

void tell_of_unusable_values(const RunOptions& options) {
  if (is_watched(options)) {
    warn_of_unusable_values();
  } else if (*option_text(OptionId::log_file) != '\0') {
    log_unusable_values();
  }
}

Status prepare_environment(const RunOptions& options) {
  if (!options.operations.empty()) {
    set_option(OptionId::ops, options.operations);
  }
  if (options.verify) set_option(OptionId::verify, fmt::format("{}", *options.verify));
  tell_of_unusable_values(options);
  ::unsetenv("HOIST_STATS");  // ours: a `hoist run` further down must not overwrite the file
  if (hoist_has_no_room() || (hoist_is_off() && !is_watched(options))) return {};
  if (!hoist_is_off()) configure_openssl(options);
  return preload_libraries();
}

void print_summary(const RunOptions& options, const Counters& counters) {
  const bool in_words = options.stats && !options.stats_file;
  if (in_words) print_error(summarise(counters));
  if (options.explain) print_error(explain_programs(counters));
  if (options.verify) print_error(verification_verdict(counters));
  if (in_words || options.explain) print_error(what_is_missing(counters));
}

// Where there can be no child to be watched the program takes our place.
int run_uncounted(const RunOptions& options, const std::optional<StatsFile>& file,
                  const std::string& why) {
  ::unsetenv(HOIST_COUNTERS_ENV);
  if (file) {
    if (Status written = file->write(Counters().to_json() + "\n"); !written) {
      report(written.error());
    }
  }
  warn(fmt::format("nothing is counted: {}", why));
  return execute_program(options.program);
}

int run_watched(const RunOptions& options) {
  std::optional<StatsFile> file;
  if (options.stats_file) {
    Result<StatsFile> found = StatsFile::find(*options.stats_file);
    if (!found) return report(found.error());
    file = std::move(*found);
  }
  sweep_segments();
  OwnSegment segment;
  if (segment.counters().layout() != nullptr) {
    ::setenv(HOIST_COUNTERS_ENV, segment.counters().path().c_str(), 1);
  } else {
    ::unsetenv(HOIST_COUNTERS_ENV);
  }
  const Result<int> status = run_child(options.program, [&] {
    // No library of ours is there to say so.
    if (hoist_has_no_room()) {
      segment.counters().add_program(::getpid(), options.program, false, HOIST_NO_ROOM);
    }
  });
  if (!status) {
    segment.remove();
    return run_uncounted(options, file, status.error().message);
  }
  // The file first: printing may have nobody who listens. The program's own status stays what the
  // caller sees.
  if (file) {
    Status written = file->write(segment.counters().to_json() + "\n");
    if (!written) report(written.error());
  }
  if (segment.counters().layout() == nullptr) {
    warn(fmt::format("the program ran, but nothing was counted: {}", segment.why_not()));
  } else {
    print_summary(options, segment.counters());
  }
  segment.remove();
  return exit_status_of(*status);
}

}  // namespace

int run_command(RunOptions options) {
  const std::string from_environment = option_text(OptionId::stats);
  if (!options.stats && !from_environment.empty()) {
    options.stats = true;
    options.stats_file = from_environment;
  }
  Status ready = check(options);
  if (ready) {
    refine_profile();
    ready = prepare_environment(options);
  }
  if (!ready) return report(ready.error());
  return is_watched(options) ? run_watched(options) : execute_program(options.program);
}

}  // namespace hoist::cli
