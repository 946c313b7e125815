#include <fmt/core.h>
#include <locale.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/counters.h"
#include "base/file.h"
#include "base/options.h"
#include "cli/commands.h"
#include "cli/machine.h"
#include "cli/process.h"
#include "cli/program_file.h"
#include "cli/report.h"
#include "cli/segments.h"
#include "cli/tree.h"
#include "device/cuda_driver.h"
#include "device/cuda_plugin.h"
#include "device/remote/ask.h"
#include "placement/choose.h"
#include "takeover/enabled_operations.h"
#include "takeover/gpu_hint.h"
#include "takeover/programs.h"
#include "takeover/takeover.h"
#include "takeover/verify.h"

namespace hoist::cli {
namespace {

using Json = nlohmann::ordered_json;
using device::CudaDevices;

struct Feature {
  std::string name;
  bool on = false;
  std::string why;
};

Feature takeover_feature() {
  if (hoist_is_off()) return {"takeover", false, "HOIST=off: unset it"};
  return {"takeover", true, "programs under `hoist run` may be taken over"};
}

Feature preload_feature() {
  const Result<std::string> entry = preload_entry();
  if (!entry) return {"preload", false, entry.error().message};
  const bool by_word_size = entry->find("$LIB") != std::string::npos;
  return {"preload", true,
          fmt::format("{}{}", *entry,
                      by_word_size ? "" : " (32-bit programs will say that they cannot load it)")};
}

// What each engine makes of nothing: sort and sha256sum of an empty file, gzip of an empty member.
struct KnownAnswer {
  std::string_view operation;
  std::vector<std::string> words;
  std::string_view output;
};
const KnownAnswer kKnownAnswers[] = {
    {"sort", {"sort", "/dev/null"}, ""},
    {"hash",
     {"sha256sum", "/dev/null"},
     "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  /dev/null\n"},
    {"gunzip", {"gzip", "-dc"}, ""},
};
constexpr std::string_view kEmptyMember("\x1f\x8b\x08\0\0\0\0\0\0\3\3\0\0\0\0\0\0\0\0\0", 20);

// Runs the engine once; why it does not work, or nothing.
std::string self_check(const std::string& operation, const std::string& path) {
  for (const KnownAnswer& known : kKnownAnswers) {
    if (known.operation != operation) continue;
    const UniqueFd input(::memfd_create("input", MFD_CLOEXEC));
    (void)write_full(input.get(), kEmptyMember.data(), kEmptyMember.size());
    // PATH leads nowhere, so that no original answers instead.
    Command command = {
        path, known.words, {"PATH=/nonexistent", "HOIST_COUNTERS=", "HOIST_VERIFY=0"}};
    command.standard_input = fmt::format("/proc/self/fd/{}", input.get());
    const Result<Outcome> outcome = run_captured(command);
    if (!outcome) return outcome.error().message;
    if (outcome->status == 0 && outcome->output == known.output) return {};
    const std::string& said = outcome->errors;
    return fmt::format(
        "{} does not work: {}", path,
        said.empty() ? "another answer than the known one" : said.substr(0, said.find('\n')));
  }
  return {};
}

// Why `operation`, whose code is the file at `path`, does not run; empty: nothing stands against
// it.
std::string objection(const std::string& operation, const std::string& path) {
  if (::access(path.c_str(), R_OK) != 0) return path + " is missing";
  if (!operation_allowed(operation)) return "switched off by HOIST_OPS";
  if (const std::optional<std::string> note = switched_off(operation)) {
    return fmt::format("{} (remove the line from {})", *note, switched_off_path());
  }
  return {};
}

Feature engine_feature(const std::string& operation) {
  const std::string path = engine_path(operation);
  const std::string name = "engine " + operation;
  if (const std::string why = objection(operation, path); !why.empty()) return {name, false, why};
  if (const std::string why = self_check(operation, path); !why.empty()) return {name, false, why};
  return {name, true, path};
}

// Engines for calls of libraries.
Feature calls_feature(const std::string& operation) {
  const std::string path = call_engine(operation);
  const std::string why = objection(operation, path);
  return {"calls " + operation, why.empty(), why.empty() ? path : why};
}

// `feature`, where its operation is asked for.
Feature on_request(const std::string& operation, const Feature& feature) {
  if (!feature.on || operation_enabled(operation)) return feature;
  return {feature.name, false,
          fmt::format("only where it is asked for: `hoist run --ops +{}`", operation)};
}

// Looked at by programs where a GPU may serve them.
Feature gemm_feature() {
  const Feature feature = calls_feature("gemm");
  if (!feature.on || hoist_gpu_may_serve()) return feature;
  const bool hidden = hoist_gpus_are_hidden();
  return {feature.name, false, hidden ? "CUDA_VISIBLE_DEVICES hides every device" : "no GPU"};
}

Feature provider_feature() {
  const std::string name = "provider aes";
  const std::string path = openssl_provider();
  if (const std::string why = objection("aes", path); !why.empty()) return {name, false, why};
  return on_request("aes", {name, true, path});
}

Feature feature_of(const hoist_operation& operation) {
  switch (operation.way) {
    case HOIST_WAY_PROGRAM:
      return engine_feature(operation.name);
    case HOIST_WAY_PROVIDER:
      return provider_feature();
    case HOIST_WAY_CALLS:
      break;
  }
  if (&operation == &hoist_operations[HOIST_GEMM]) return gemm_feature();
  return on_request(operation.name, calls_feature(operation.name));
}

Feature program_feature(const std::string& program) {
  const std::string name = "program " + program;
  const std::string path = find_program(program);
  if (path.empty()) return {name, false, "not in PATH"};
  const Result<std::string> build_id = read_build_id(path);
  if (!build_id) return {name, false, build_id.error().message};
  const std::optional<KnownBuild> build = find_build(*build_id);
  if (!build) {
    return {name, false,
            fmt::format("build-id {} of {} is unknown: `hoist learn-program {}`", *build_id, path,
                        path)};
  }
  return {name, true,
          fmt::format("{} is {} {}{}", path, build->package, build->version,
                      build->learnt ? ", learnt" : "")};
}

// Whether one answers, and what it has.
Feature hoistd_feature() try {
  const Result<std::string> answer = device::remote::ask_status({});
  if (!answer) return {"hoistd", false, answer.error().message};
  const Json status = Json::parse(*answer);
  return {"hoistd", true,
          fmt::format("pid {} lends {} to {} clients", status.at("pid").get<int>(),
                      status.at("device").at("name").get<std::string>(),
                      status.at("total").at("clients").get<int>())};
} catch (const Json::exception& error) {
  return {"hoistd", false, fmt::format("what answers is no hoistd: {}", error.what())};
}

Feature counters_feature() {
  const OwnSegment segment;  // as `hoist run --stats` makes one
  const std::string folder = std::filesystem::path(segment.counters().path()).parent_path();
  return {"counters", !folder.empty(), folder.empty() ? segment.why_not() : folder};
}

Feature locale_feature() {
  const char* locale = ::setlocale(LC_ALL, "");
  if (locale == nullptr) {
    return {"locale", false, "the environment's locale is not installed: programs use C"};
  }
  return {"locale", true, ::setlocale(LC_COLLATE, nullptr)};
}

std::vector<Feature> features(const CudaDevices& cuda) {
  std::vector<Feature> list = {takeover_feature(), preload_feature(), counters_feature()};
  for (const hoist_operation& operation : hoist_operations) list.push_back(feature_of(operation));
  for (const hoist_program& program : kHoistPrograms) list.push_back(program_feature(program.name));
  list.push_back(locale_feature());
  const placement::ProfileDescription profile = placement::describe_profile();
  list.push_back({"profile", profile.on, profile.why});
  list.push_back(hoistd_feature());
  const Status plugin = device::cuda_available();
  list.push_back({"cuda", plugin.has_value(), plugin ? "gemm runs there" : plugin.error().message});
  return list;
}

Json devices_json(const Processor& cpu, const CudaDevices& cuda) {
  Json list = Json::array();
  list.push_back({{"kind", "cpu"}, {"name", cpu.model}, {"present", true}, {"why", ""}});
  for (const device::DeviceProperties& gpu : cuda.devices) {
    list.push_back({{"kind", "cuda"},
                    {"name", gpu.name},
                    {"present", true},
                    {"why", ""},
                    {"index", gpu.index},
                    {"memory", gpu.memory},
                    {"compute", fmt::format("{}.{}", gpu.compute_major, gpu.compute_minor)},
                    {"multiprocessors", gpu.multiprocessors},
                    {"pci", gpu.pci_bus_id},
                    {"numa", gpu.numa_node},
                    {"slice", gpu.slice},
                    {"peers", gpu.peers}});
  }
  if (cuda.devices.empty()) {
    list.push_back({{"kind", "cuda"}, {"name", ""}, {"present", false}, {"why", cuda.why}});
  }
  return list;
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

void print_json(const Processor& cpu, const Memory& memory, const CudaDevices& cuda) {
  Json report = {{"version", HOIST_VERSION},
                 {"cpu",
                  {{"model", cpu.model},
                   {"cores", cpu.cores},
                   {"usable", cpu.usable},
                   {"quota", or_null(cpu.quota)},
                   {"isa", cpu.isa}}},
                 {"memory",
                  {{"total", memory.total},
                   {"available", memory.available},
                   {"limit", or_null(memory.limit)}}},
                 {"devices", devices_json(cpu, cuda)}};
  Json list = Json::array();
  for (const Feature& feature : features(cuda)) {
    list.push_back({{"name", feature.name}, {"on", feature.on}, {"why", feature.why}});
  }
  report["features"] = std::move(list);
  fmt::print("{}\n", report.dump(2, ' ', true, Json::error_handler_t::replace));
}

void print_text(const Processor& cpu, const Memory& memory, const CudaDevices& cuda) {
  constexpr double kGibibyte = 1 << 30;
  fmt::print("hoist {}\n", HOIST_VERSION);
  fmt::print("cpu      {}, {} cores, {} usable{}\n", cpu.model, cpu.cores, cpu.usable,
             cpu.quota ? fmt::format(" (quota {:.2f})", *cpu.quota) : "");
  fmt::print("isa     ");
  for (const std::string& extension : cpu.isa) fmt::print(" {}", extension);
  fmt::print("\nmemory   {:.1f} GiB, {:.1f} GiB available{}\n",
             static_cast<double>(memory.total) / kGibibyte,
             static_cast<double>(memory.available) / kGibibyte,
             memory.limit
                 ? fmt::format(", limit {:.1f} GiB", static_cast<double>(*memory.limit) / kGibibyte)
                 : "");
  for (const device::DeviceProperties& gpu : cuda.devices) {
    fmt::print("{:<8} {}, {:.1f} GiB, compute {}.{}, PCI {}{}\n", gpu.id(), gpu.name,
               static_cast<double>(gpu.memory) / kGibibyte, gpu.compute_major, gpu.compute_minor,
               gpu.pci_bus_id,
               gpu.numa_node >= 0 ? fmt::format(", NUMA node {}", gpu.numa_node) : "");
  }
  fmt::print("\n");
  for (const Feature& feature : features(cuda)) {
    fmt::print("{} {:<18} {}\n", feature.on ? "on " : "off", feature.name, feature.why);
  }
}

}  // namespace

int doctor_command(bool json) {
  const Processor cpu = describe_processor();
  const Memory memory = describe_memory();
  const CudaDevices cuda = device::find_cuda_devices();
  json ? print_json(cpu, memory, cuda) : print_text(cpu, memory, cuda);
  return kDone;
}

}  // namespace hoist::cli
