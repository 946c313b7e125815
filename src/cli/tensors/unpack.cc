#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/container/progress.h"
#include "cli/output_rule.h"
#include "cli/report.h"
#include "cli/tensors/commands.h"
#include "cli/tensors/damage.h"
#include "tensors/file/quality_policy.h"
#include "tensors/file/restore.h"

namespace hoist::cli {
namespace {

using namespace hoist::tensors;
namespace fs = std::filesystem;

Result<std::vector<size_t>> parse_list(const std::string& text) {
  std::vector<size_t> numbers;
  const auto wrong = [&] {
    return fail(ErrorCode::invalid_argument,
                fmt::format("no list of fragments ('{}'): write one as in 0,2-4", text));
  };
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    size_t first = 0;
    auto parsed = std::from_chars(at, end, first);
    if (parsed.ec != std::errc()) return wrong();
    size_t last = first;
    if (parsed.ptr < end && *parsed.ptr == '-') {
      parsed = std::from_chars(parsed.ptr + 1, end, last);
      if (parsed.ec != std::errc()) return wrong();
    }
    if (last < first || last >= kMaxParts) return wrong();
    for (size_t i = first; i <= last; ++i) numbers.push_back(i);
    at = parsed.ptr;
    if (at < end && *at++ != ',') return wrong();
    if (at == end && text.back() == ',') return wrong();
  }
  return numbers;
}

// A list of fragments of what has none would be ignored.
Status check_fragments(const UnpackOptions& options, const HoloTensorReader& reader) {
  const std::vector<HoloTensor>& tensors = reader.header().tensors;
  const bool has_some = std::any_of(tensors.begin(), tensors.end(), [](const HoloTensor& tensor) {
    return is_any_subset(tensor.description.encoding);
  });
  if (options.fragments.empty() || has_some || tensors.empty()) return {};
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("no tensor has fragments, which spectral, rph and lrdf make ({} --fragments "
                  "{}): use --layers or --target",
                  reader.name(), options.fragments));
}

// What each tensor is loaded with.
Result<std::function<PartSelection(const HoloTensor&)>> selection_of(const UnpackOptions& options) {
  PartSelection everywhere;
  everywhere.target = options.target;
  everywhere.layers = options.layers;
  Result<std::vector<size_t>> fragments = parse_list(options.fragments);
  if (!fragments) return fragments.error();
  everywhere.fragments = std::move(*fragments);
  if (options.policy.empty()) {
    return [everywhere](const HoloTensor&) { return everywhere; };
  }
  QualityPolicy policy(options.target.value_or(1));
  for (const std::string& text : options.policy) {
    Result<LayerQualityTarget> rule = parse_layer_target(text);
    if (!rule) return rule.error();
    policy.add(std::move(*rule));
  }
  return [policy](const HoloTensor& tensor) {
    PartSelection selection;
    selection.target = policy.target(tensor.name);
    return selection;
  };
}

// Further copies of the same file, whose shards are used where the first one's are damaged.
Status add_sources(const UnpackOptions& options, HoloTensorReader& reader) {
  int priority = 200;
  for (const std::string& path : options.sources) {
    Result<HoloTensorReader> other = HoloTensorReader::open(path);
    if (!other) return other.error();
    if (encode_header(other->header()) != encode_header(reader.header())) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("not a copy of {} ({}): leave it out", options.input, path));
    }
    reader.add_source(other->as_source(priority++));
  }
  return {};
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || fs::is_directory(path, ignored);
}

// The input, and copies that may be needed, would be lost.
OutputRule rule_of(const UnpackOptions& options) {
  std::vector<std::string> inputs = options.sources;
  inputs.push_back(options.input);
  return output_rule(options.force, std::move(inputs));
}

// All files of a folder are open until all are whole.
void open_as_many_files_as_allowed() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Result<RestoreReport> restore(const HoloTensorReader& reader, const std::string& output,
                              const RestoreOptions& how) {
  const std::vector<HoloFile>& files = reader.header().files;
  if (is_folder(output) && !files.empty()) return restore_all(reader, output, how);
  return restore_as_named(reader, output, how);
}

nlohmann::ordered_json left_out_json(const RestoreReport& report) {
  auto json = nlohmann::ordered_json::array();
  for (const LeftOut& left_out : report.left_out) {
    json.push_back({{"name", left_out.name}, {"why", left_out.why}});
  }
  return json;
}

void print(const UnpackOptions& options, const RestoreReport& report,
           const FetchStatistics& fetched) {
  if (options.json) {
    const nlohmann::ordered_json json = {{"file", options.output},
                                         {"tensors", report.tensors},
                                         {"bytes", report.bytes},
                                         {"lowest_quality", report.lowest_quality},
                                         {"skipped_parts", report.skipped},
                                         {"left_out", left_out_json(report)},
                                         {"shards",
                                          {{"valid", fetched.valid},
                                           {"corrupt", fetched.corrupt},
                                           {"missing", fetched.missing},
                                           {"repaired", fetched.repaired}}}};
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  const std::string left_out =
      report.left_out.empty() ? "" : fmt::format(", {} damaged left out", report.left_out.size());
  fmt::print("{}: {} tensors, {} bytes, lowest quality {:.6f}{}\n", options.output, report.tensors,
             report.bytes, report.lowest_quality, left_out);
}

Error with_advice(const UnpackOptions& options, const Error& error) {
  if (error.code != ErrorCode::corrupt || options.skip_damaged) return error;
  return fail(error.code, error.message + ": --skip-damaged leaves out what cannot be read");
}

Status unpack(const UnpackOptions& options) {
  Result<HoloTensorReader> reader = HoloTensorReader::open(options.input);
  if (!reader) return reader.error();
  warn_of_damaged_metadata(*reader);
  if (Status added = add_sources(options, *reader); !added) return added;
  auto selection = selection_of(options);
  if (!selection) return selection.error();
  if (Status fits = check_fragments(options, *reader); !fits) return fits;
  ProgressLine line("unpacking");
  RestoreOptions how;
  how.selection = std::move(*selection);
  how.tolerance = {options.min_quality.has_value(), options.min_quality.value_or(0)};
  how.skip_damaged = options.skip_damaged;
  how.output = rule_of(options);
  how.pool = &ThreadPool::process();
  how.progress = [&](uint64_t done, uint64_t total) { line.update(done, total); };
  open_as_many_files_as_allowed();
  const Result<RestoreReport> report = restore(*reader, options.output, how);
  if (!report) return with_advice(options, report.error());
  const FetchStatistics fetched = reader->fetcher().statistics();
  if (fetched.damaged > 0) {
    warn(fmt::format("{} damaged shards ({}), {} of them mended by parity{}", fetched.damaged,
                     options.input, fetched.repaired, fetched.repairable ? kRepairMends : ""));
  }
  if (report->skipped > 0) {
    warn(fmt::format("{} damaged parts were left out ({})", report->skipped, options.input));
  }
  for (const LeftOut& left_out : report->left_out) {
    warn(fmt::format("left out: {} ({})", left_out.name, left_out.why));
  }
  print(options, *report, fetched);
  return {};
}

}  // namespace

int unpack_command(const UnpackOptions& options) {
  const Status unpacked = unpack(options);
  return unpacked ? kDone : report(unpacked.error());
}

}  // namespace hoist::cli
