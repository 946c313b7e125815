// Where `hoist px run` runs a file.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/px/commands.h"
#include "cli/px/read_source.h"
#include "cli/px/run_values.h"
#include "device/device.h"
#include "px/place/rates.h"
#include "px/program.h"

namespace hoist::cli {

struct RunPlace {
  px::Target target = px::Target::automatic;
  device::Device* device = nullptr;
  std::string why;  // of a choice between CPU and GPU; empty: it was said
  // What the choice comes from; none: nothing was measured, or nobody asked.
  std::optional<px::PlaceEstimate> estimate{};
  px::Work work{};  // of all launches
};

// What the command line or the file says; else by the estimate for all launches of the file.
Result<RunPlace> choose_place(const PxRunOptions& options, const PxFile& file, RunValues& made);

nlohmann::ordered_json json_of(const RunPlace& place);
// For --explain.
void print_place(const PxRunOptions& options, const RunPlace& place);

}  // namespace hoist::cli
