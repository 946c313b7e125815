#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/container/commands.h"
#include "cli/output_rule.h"
#include "cli/report.h"
#include "cli/tensors/commands.h"
#include "cli/tensors/damage.h"
#include "cli/tensors/metadata.h"
#include "cli/tensors/plot.h"
#include "tensors/file/reader.h"

namespace hoist::cli {
namespace {

using namespace hoist::tensors;
using nlohmann::ordered_json;

ordered_json tensor_json(const HoloTensor& tensor) {
  const TensorDescription& description = tensor.description;
  auto parts = ordered_json::array();
  for (size_t i = 0; i < tensor.parts.size(); ++i) {
    const QualityPoint& point = description.curve.prefixes[i];
    parts.push_back(
        {{"bytes", tensor.parts[i].bytes}, {"quality", point.quality}, {"cosine", point.cosine}});
    if (description.curve.any_subset()) parts.back()["energy"] = description.curve.energies[i];
  }
  ordered_json json = {{"name", tensor.name},
                       {"dtype", properties(description.dtype).name},
                       {"shape", description.shape},
                       {"encoding", name(description.encoding)},
                       {"tensor_bytes", tensor.bytes()}};
  if (!tensor.stored_as.empty()) json["stored_as"] = tensor.stored_as;
  if (tensor.order.big_endian) json["big_endian"] = true;
  if (tensor.order.column_major) json["column_major"] = true;
  json[description.curve.any_subset() ? "fragments" : "layers"] = std::move(parts);
  return json;
}

// The metadata of a packed file. A note names what cannot be read: the tensors are there without
// it.
std::vector<MetadataPair> metadata_of(const HoloTensorReader& reader, size_t file) {
  const Result<std::vector<std::byte>> skeleton = reader.skeleton(file);
  const HoloFile& packed = reader.header().files[file];
  Result<std::vector<MetadataPair>> pairs =
      skeleton ? read_metadata(packed.format, *container::memory_source(*skeleton, packed.name))
               : skeleton.error();
  if (pairs) return std::move(*pairs);
  warn(fmt::format("no metadata of {}: {}", packed.name, pairs.error().message));
  return {};
}

ordered_json info_json(const HoloTensorReader& reader) {
  const HoloTensorHeader& header = reader.header();
  uint64_t parity = 0;
  for (const ShardPlace& shard : reader.layout().shards())
    parity += shard.is_parity ? shard.bytes : 0;
  ordered_json json = {{"file", reader.name()},
                       {"bytes", reader.file_size()},
                       {"tensor_bytes", header.tensor_bytes()},
                       {"order", header.order == FileOrder::layer ? "layer" : "tensor"},
                       {"data_shards", header.fragments},
                       {"parity_shards", header.parity},
                       {"shards", reader.layout().shards().size()},
                       {"parity_bytes", parity}};
  if ((reader.container().header().flags & container::kDigests) != 0) {
    json["root"] = hex(reader.container().index().root);
  }
  json["files"] = ordered_json::array();
  for (size_t i = 0; i < header.files.size(); ++i) {
    const HoloFile& file = header.files[i];
    json["files"].push_back({{"name", file.name},
                             {"format", name(file.format)},
                             {"bytes", file.size},
                             {"metadata", metadata_json(metadata_of(reader, i))}});
  }
  json["tensors"] = ordered_json::array();
  for (const HoloTensor& tensor : header.tensors) json["tensors"].push_back(tensor_json(tensor));
  return json;
}

void print_text(const HoloTensorReader& reader) {
  const HoloTensorHeader& header = reader.header();
  const uint64_t raw = header.tensor_bytes();
  fmt::print("{}: {} tensors, {} bytes in a file of {} ({:.1f} %)\n", reader.name(),
             header.tensors.size(), raw, reader.file_size(),
             raw == 0 ? 100.0
                      : 100.0 * static_cast<double>(reader.file_size()) / static_cast<double>(raw));
  fmt::print("  {} by {}, {} shards of {} + {}\n",
             header.order == FileOrder::layer ? "layer" : "tensor",
             header.order == FileOrder::layer ? "layer" : "tensor", reader.layout().shards().size(),
             header.fragments, header.parity);
  for (size_t i = 0; i < header.files.size(); ++i) {
    const HoloFile& file = header.files[i];
    fmt::print("  from {} ({}, {} bytes)\n", file.name, name(file.format), file.size);
    print_metadata(metadata_of(reader, i));
  }
  fmt::print("{:<44} {:>7} {:<18} {:<9} {:>6} {:>7}  {}\n", "tensor", "dtype", "shape", "encoding",
             "parts", "size", "quality of 1, 2, … parts");
  for (const HoloTensor& tensor : header.tensors) {
    uint64_t stored = 0;
    std::string qualities;
    for (size_t i = 0; i < tensor.parts.size(); ++i) {
      stored += tensor.parts[i].bytes;
      if (i < 4) qualities += fmt::format(" {:.5f}", tensor.description.curve.prefixes[i].quality);
    }
    const uint64_t bytes = std::max<uint64_t>(tensor.bytes(), 1);
    fmt::print("{:<44} {:>7} {:<18} {:<9} {:>6} {:>5.1f} % {}{}{}\n", tensor.name,
               properties(tensor.description.dtype).name,
               fmt::format("[{}]", fmt::join(tensor.description.shape, ",")),
               name(tensor.description.encoding), tensor.parts.size(),
               100.0 * static_cast<double>(stored) / static_cast<double>(bytes), qualities,
               tensor.parts.size() > 4 ? " …" : "",
               tensor.stored_as.empty() ? "" : fmt::format("  {}", tensor.stored_as));
  }
}

}  // namespace

int tensors_info_command(const TensorsInfoOptions& options) {
  const Result<HoloTensorReader> reader = HoloTensorReader::open(options.file);
  if (!reader) return report(reader.error());
  warn_of_damaged_metadata(*reader);
  if (!options.plot.empty()) {
    const std::string svg = curve_svg(reader->header());
    const OutputRule rule = output_rule(options.force, {options.file});
    if (Status written = write_output(options.plot, svg, rule); !written) {
      return report(written.error());
    }
  }
  if (options.json) {
    fmt::print("{}\n",
               info_json(*reader).dump(2, ' ', false, ordered_json::error_handler_t::replace));
  } else {
    print_text(*reader);
  }
  return kDone;
}

}  // namespace hoist::cli
