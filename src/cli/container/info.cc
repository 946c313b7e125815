#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/container/commands.h"
#include "cli/container/metadata.h"
#include "cli/report.h"
#include "container/reader.h"

namespace hoist::cli {
namespace {

using nlohmann::ordered_json;

const char* state_name(container::IndexState state) {
  switch (state) {
    case container::IndexState::committed:
      return "committed";
    case container::IndexState::recovered:
      return "recovered";
    case container::IndexState::uncommitted:
      return "uncommitted";
  }
  return "";
}

std::string dump(const ordered_json& value) {
  return value.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json block_json(const container::Block& block) {
  return {{"id", block.id},
          {"kind", block.kind},
          {"codec", block.codec},
          {"raw_size", block.raw_size},
          {"stored_size", block.stored_size},
          {"offset", block.offset},
          {"alignment", uint64_t{1} << block.alignment_log2}};
}

struct Sums {
  uint64_t raw = 0;
  uint64_t stored = 0;
};

Sums sums_of(const container::Reader& reader) {
  Sums sums;
  for (const container::Block& block : reader.blocks()) {
    sums.raw += block.raw_size;
    sums.stored += block.stored_size;
  }
  return sums;
}

ordered_json info_json(const container::Reader& reader, bool with_blocks) {
  const Sums sums = sums_of(reader);
  ordered_json info = {{"file", reader.source().name()},
                       {"file_size", reader.source().size()},
                       {"version", container::kVersion},
                       {"kind", kind_name(reader.header().kind)},
                       {"front_index", (reader.header().flags & container::kFrontIndex) != 0},
                       {"state", state_name(reader.state())},
                       {"blocks", reader.blocks().size()},
                       {"raw_bytes", sums.raw},
                       {"stored_bytes", sums.stored},
                       {"metadata_size", reader.metadata().size()}};
  if (auto metadata = decoded_metadata(reader.metadata())) info["metadata"] = std::move(*metadata);
  const bool has_root = (reader.header().flags & container::kDigests) != 0 &&
                        reader.state() == container::IndexState::committed;
  if (has_root) info["root"] = hex(reader.index().root);
  if (!with_blocks) return info;
  info["block_list"] = ordered_json::array();
  for (const container::Block& block : reader.blocks()) {
    info["block_list"].push_back(block_json(block));
  }
  return info;
}

void print_text(const ordered_json& info, const container::Reader& reader, bool with_blocks) {
  fmt::print("{}: container of kind {}, version {}\n", reader.source().name(),
             info["kind"].get<std::string>(), container::kVersion);
  fmt::print("  {} blocks, {} bytes raw, {} stored, file of {}\n", reader.blocks().size(),
             info["raw_bytes"].get<uint64_t>(), info["stored_bytes"].get<uint64_t>(),
             reader.source().size());
  fmt::print("  index: {}{}\n", info["state"].get<std::string>(),
             info["front_index"].get<bool>() ? ", also at the front" : "");
  if (info.contains("root")) fmt::print("  root: {}\n", info["root"].get<std::string>());
  if (info.contains("metadata")) {
    fmt::print("  metadata: {}\n", dump(info["metadata"]));
  } else {
    fmt::print("  metadata: {} bytes\n", reader.metadata().size());
  }
  if (!with_blocks) return;
  fmt::print("{:>20} {:>10} {:>6} {:>14} {:>14} {:>16} {:>9}\n", "id", "kind", "codec", "raw",
             "stored", "offset", "alignment");
  for (const container::Block& block : reader.blocks()) {
    fmt::print("{:>20} {:>10} {:>6} {:>14} {:>14} {:>16} {:>9}\n", block.id, block.kind,
               block.codec, block.raw_size, block.stored_size, block.offset,
               1u << block.alignment_log2);
  }
}

}  // namespace

int info_command(const InfoOptions& options) {
  Result<std::unique_ptr<container::Source>> source = container::open_file_source(options.file);
  if (!source) return report(source.error());
  const container::Limits limits = limits_for((*source)->size());
  Result<container::Reader> reader =
      container::Reader::open(std::move(*source), {.limits = limits});
  if (!reader) return report(reader.error());
  const ordered_json info = info_json(*reader, options.blocks && options.json);
  if (options.json) {
    fmt::print("{}\n", dump(info));
  } else {
    print_text(info, *reader, options.blocks);
  }
  return kDone;
}

}  // namespace hoist::cli
