#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/container/progress.h"
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
  if (!fragments) return tl::unexpected(fragments.error());
  everywhere.fragments = std::move(*fragments);
  if (options.policy.empty()) {
    return [everywhere](const HoloTensor&) { return everywhere; };
  }
  QualityPolicy policy(options.target.value_or(1));
  for (const std::string& text : options.policy) {
    Result<LayerQualityTarget> rule = parse_layer_target(text);
    if (!rule) return tl::unexpected(rule.error());
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
    if (!other) return tl::unexpected(other.error());
    if (encode_header(other->header()) != encode_header(reader.header())) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("not a copy of {} ({}): leave it out", options.input, path));
    }
    reader.add_source(other->as_source(priority++));
  }
  return {};
}

// A folder that is removed unless its files were moved out.
class Staging {
 public:
  static Result<Staging> in(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    std::string name = (folder / ".hoist-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr) {
      return fail(ErrorCode::io, fmt::format("cannot write into {}: {}", folder.string(),
                                             error ? error.message() : std::strerror(errno)));
    }
    return Staging(folder, name);
  }
  Staging(Staging&& other) noexcept
      : folder_(std::move(other.folder_)), path_(std::exchange(other.path_, {})) {}
  Staging& operator=(Staging&&) = delete;
  ~Staging() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  Status publish(const std::vector<HoloFile>& files) {
    for (const HoloFile& file : files) {
      std::error_code error;
      fs::rename(path_ / file.name, folder_ / file.name, error);
      if (error) {
        return fail(ErrorCode::io,
                    fmt::format("rename {}: {}", (folder_ / file.name).string(), error.message()));
      }
    }
    return {};
  }

 private:
  Staging(fs::path folder, fs::path path) : folder_(std::move(folder)), path_(std::move(path)) {}

  fs::path folder_;
  fs::path path_;
};

void add_to(RestoreReport& sum, const RestoreReport& report) {
  sum.bytes += report.bytes;
  sum.tensors += report.tensors;
  sum.skipped += report.skipped;
  sum.lowest_quality = std::min(sum.lowest_quality, report.lowest_quality);
}

Result<RestoreReport> restore_folder(const HoloTensorReader& reader, const std::string& output,
                                     const RestoreOptions& how) {
  const std::vector<HoloFile>& files = reader.header().files;
  Result<Staging> staging = Staging::in(output);
  if (!staging) return tl::unexpected(staging.error());
  RestoreReport sum;
  for (size_t i = 0; i < files.size(); ++i) {
    Result<RestoreReport> report = restore_file(reader, i, staging->file(files[i].name), how);
    if (!report) return report;
    add_to(sum, *report);
  }
  if (Status published = staging->publish(files); !published) {
    return tl::unexpected(published.error());
  }
  return sum;
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || fs::is_directory(path, ignored);
}

// An output that is the input, or a copy that may be needed, would be lost.
Status check_outputs(const UnpackOptions& options, const HoloTensorReader& reader) {
  std::vector<fs::path> outputs{options.output};
  if (is_folder(options.output)) {
    outputs.clear();
    for (const HoloFile& file : reader.header().files) {
      outputs.push_back(fs::path(options.output) / file.name);
    }
  }
  std::vector<std::string> inputs = options.sources;
  inputs.push_back(options.input);
  for (const std::string& input : inputs) {
    for (const fs::path& output : outputs) {
      if (Status other = check_other_file(input, output); !other) return other;
    }
  }
  return {};
}

Result<RestoreReport> restore(const HoloTensorReader& reader, const std::string& output,
                              const RestoreOptions& how) {
  const std::vector<HoloFile>& files = reader.header().files;
  if (is_folder(output) && !files.empty()) return restore_folder(reader, output, how);
  return restore_as_named(reader, output, how);
}

void print(const UnpackOptions& options, const RestoreReport& report,
           const FetchStatistics& fetched) {
  if (options.json) {
    const nlohmann::ordered_json json = {{"file", options.output},
                                         {"tensors", report.tensors},
                                         {"bytes", report.bytes},
                                         {"lowest_quality", report.lowest_quality},
                                         {"skipped_parts", report.skipped},
                                         {"shards",
                                          {{"valid", fetched.valid},
                                           {"corrupt", fetched.corrupt},
                                           {"missing", fetched.missing},
                                           {"repaired", fetched.repaired}}}};
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  fmt::print("{}: {} tensors, {} bytes, lowest quality {:.6f}\n", options.output, report.tensors,
             report.bytes, report.lowest_quality);
}

Status unpack(const UnpackOptions& options) {
  Result<HoloTensorReader> reader = HoloTensorReader::open(options.input);
  if (!reader) return tl::unexpected(reader.error());
  warn_of_damaged_metadata(*reader);
  if (Status added = add_sources(options, *reader); !added) return added;
  if (Status different = check_outputs(options, *reader); !different) return different;
  auto selection = selection_of(options);
  if (!selection) return tl::unexpected(selection.error());
  if (Status fits = check_fragments(options, *reader); !fits) return fits;
  ProgressLine line("unpacking");
  RestoreOptions how;
  how.selection = std::move(*selection);
  how.tolerance = {options.min_quality.has_value(), options.min_quality.value_or(0)};
  how.pool = &ThreadPool::process();
  how.progress = [&](uint64_t done, uint64_t total) { line.update(done, total); };
  const Result<RestoreReport> report = restore(*reader, options.output, how);
  if (!report) return tl::unexpected(report.error());
  const FetchStatistics fetched = reader->fetcher().statistics();
  if (fetched.damaged > 0) {
    warn(fmt::format("{} damaged shards ({}), {} of them mended by parity{}", fetched.damaged,
                     options.input, fetched.repaired, fetched.repairable ? kRepairMends : ""));
  }
  if (report->skipped > 0) {
    warn(fmt::format("{} damaged parts were left out ({})", report->skipped, options.input));
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
