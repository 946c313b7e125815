// Damage: finding it and mending it.
#include "capi/status.h"
#include "capi/stop.h"
#include "capi/structs.h"
#include "hoist/tensors.h"
#include "tensors/file/repair.h"

using namespace hoist::capi;
using hoist::Result;
using hoist::Status;
namespace container = hoist::container;

namespace {

Result<std::unique_ptr<container::Source>> open(const char* path, const Stop& stop) {
  if (Status there = needed(path, "path"); !there) return there.error();
  auto source = container::open_file_source(path);
  if (!source) return source;
  return stoppable(std::move(*source), stop);
}

}  // namespace

extern "C" {

hoist_status hoist_tensors_verify(const char* path, const hoist_tensors_check_options* options,
                                  hoist_tensors_check* check) {
  return guarded([&]() -> Status {
    const Result<size_t> size = struct_size(check, "hoist_tensors_check");
    if (!size) return size.error();
    give(hoist_tensors_check{}, *size, check);
    const auto own = options_of(options, "hoist_tensors_check_options");
    if (!own) return own.error();
    Stop stop(own->progress, own->progress_context, own->cancellation);
    const auto source = open(path, stop);
    if (!source) return source.error();
    const auto report = hoist::tensors::verify_holotensor(
        **source, [&](uint64_t done, uint64_t total) { stop.report(done, total); });
    if (Status stopped = stop.status(); !stopped) return stopped;
    if (!report) return report.error();
    hoist_tensors_check found{};
    found.ok = report->ok() ? 1 : 0;
    found.repairable = report->ok() || report->repairable ? 1 : 0;
    found.bytes = report->container.file_size;
    found.shards = report->shards;
    found.lost_shards = report->lost_shards.size();
    found.lost_tensors = report->lost_tensors.size();
    found.damages = report->container.damage_count;
    give(found, *size, check);
    return {};
  });
}

hoist_status hoist_tensors_repair(const char* path, const char* output,
                                  const hoist_tensors_check_options* options, uint64_t* repaired) {
  return guarded([&]() -> Status {
    if (repaired != nullptr) *repaired = 0;
    if (Status there = needed(output, "output"); !there) return there;
    const auto own = options_of(options, "hoist_tensors_check_options");
    if (!own) return own.error();
    Stop stop(own->progress, own->progress_context, own->cancellation);
    const auto source = open(path, stop);
    if (!source) return source.error();
    const bool in_place = !hoist::check_other_file(path, output);
    const auto report = hoist::tensors::repair_holotensor(
        **source, output, [&](uint64_t done, uint64_t total) { stop.report(done, total); },
        /*durable=*/true, output_rule(in_place ? 1 : own->replace));
    if (!report) return report.error();
    if (repaired != nullptr) *repaired = report->repaired;
    return {};
  });
}

}  // extern "C"
