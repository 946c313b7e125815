#include "cli/px/run_place.h"

#include <fmt/format.h>

#include <utility>

namespace hoist::cli {
namespace {

// Launches that are counted; of a file with more the estimate is the least that there is.
constexpr uint64_t kMostCounted = 1000;

// An estimate for all launches of the file: arrays are copied once, whatever many launches use
// them.
Result<RunPlace> estimated(const px::Rates& rates, const PxFile& file, RunValues& made) {
  RunPlace place;
  double cpu = 0;
  double gpu = 0;
  const px::UseLaunch add = [&](const ir::Kernel& kernel, const ir::Grid& grid,
                                std::span<const ir::Argument> arguments) {
    const px::Work work = px::work_of(kernel, grid, arguments);
    cpu += rates.cpu_seconds(work);
    gpu += rates.gpu_seconds(work);
    place.work.operations += work.operations;
    place.work.is_whole = place.work.is_whole && work.is_whole;
  };
  const Result<px::HostRehearsal> rehearsal =
      px::rehearse_host(file.lowered->host, made.values, add, kMostCounted, file.source);
  if (!rehearsal) return rehearsal.error();
  place.work.bytes_in = rehearsal->bytes_copied;
  place.work.is_whole = place.work.is_whole && rehearsal->is_whole;
  place.estimate = rates.compare(cpu, rates.copy_seconds(rehearsal->bytes_copied) + gpu);
  place.why = px::describe(*place.estimate, place.work);
  return place;
}

}  // namespace

Result<RunPlace> choose_place(const PxRunOptions& options, const PxFile& file, RunValues& made) {
  const px::HostProgram& host = file.lowered->host;
  device::Device& cpu = device::cpu_device();
  if (options.target == "interpreter") return RunPlace{px::Target::interpreter, &cpu, ""};
  const bool file_decides = options.target == "auto";
  if (options.target == "cpu" || (file_decides && host.target == px::HostTarget::cpu)) {
    return RunPlace{px::Target::cpu, &cpu, ""};
  }
  if (options.target == "cuda" || (file_decides && host.target == px::HostTarget::gpu)) {
    const Result<device::Device*> gpu = device::cuda_device(host.device);
    if (!gpu) return gpu.error();
    return RunPlace{px::Target::cuda, *gpu, ""};
  }
  const Result<px::Rates>& rates = px::Rates::process();
  if (!rates) {
    return RunPlace{px::Target::automatic, &cpu, fmt::format("the CPU: {}", rates.error().message)};
  }
  Result<RunPlace> place = estimated(*rates, file, made);
  if (!place) return place;
  place->device = &cpu;
  if (!place->estimate->on_gpu) return place;
  const Result<device::Device*> gpu = device::cuda_device(host.device);
  if (gpu) {
    place->device = *gpu;
  } else {
    place->why = fmt::format("the CPU: {}", gpu.error().message);
  }
  return place;
}

nlohmann::ordered_json json_of(const RunPlace& place) {
  if (place.why.empty()) return nullptr;
  nlohmann::ordered_json json = {{"why", place.why}};
  if (!place.estimate) return json;
  json["cpu_ms"] = 1e3 * place.estimate->cpu_seconds;
  json["gpu_ms"] = 1e3 * place.estimate->gpu_seconds;
  json["gpu_start_ms"] = 1e3 * place.estimate->gpu_start_seconds;
  json["operations"] = place.work.operations;
  json["bytes_copied"] = place.work.bytes();
  json["is_whole"] = place.work.is_whole;
  return json;
}

void print_place(const PxRunOptions& options, const RunPlace& place) {
  const std::string id = place.device->properties().id();
  if (options.json) {
    const nlohmann::ordered_json json = {{"device", id}, {"place", json_of(place)}};
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  fmt::print("{}: {}\n", id,
             place.why.empty() ? "as the command line or the file says" : place.why);
}

}  // namespace hoist::cli
