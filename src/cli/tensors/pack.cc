#include "tensors/file/pack.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/container/commands.h"
#include "cli/container/progress.h"
#include "cli/output_rule.h"
#include "cli/report.h"
#include "cli/tensors/commands.h"
#include "tensors/model/model_source.h"

namespace hoist::cli {
namespace {

using namespace hoist::tensors;

HoloWriteOptions write_options(const PackOptions& options) {
  HoloWriteOptions how;
  how.encode.encoding = *find_encoding(options.encoding);
  how.encode.fragments = options.fragments;
  how.encode.seed = options.seed;
  how.encode.max_rank = options.max_rank;
  how.encode.essential_share = options.essential_share;
  how.order = options.order == "tensor" ? FileOrder::tensor : FileOrder::layer;
  how.parity = options.parity;
  how.digests = options.digests;
  if (options.precision == "f32") how.encode.precision = DType::f32;
  if (options.precision == "f16") how.encode.precision = DType::f16;
  if (options.precision == "bf16") how.encode.precision = DType::bf16;
  return how;
}

void print(const PackOptions& options, const ModelSource& model, const HoloTensorWriter& writer) {
  uint64_t before = 0;
  for (const ModelFile& file : model.files()) before += file.size;
  const uint64_t after = writer.file_size();
  if (options.json) {
    nlohmann::ordered_json json = {{"file", options.output},
                                   {"tensors", writer.header().tensors.size()},
                                   {"input_bytes", before},
                                   {"bytes", after}};
    if (writer.root()) json["root"] = hex(*writer.root());
    json["notes"] = model.notes();
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  fmt::print(
      "{}: {} tensors, {} bytes of {} ({:.1f} %)\n", options.output, writer.header().tensors.size(),
      after, before,
      before == 0 ? 100.0 : 100.0 * static_cast<double>(after) / static_cast<double>(before));
  if (writer.root()) fmt::print("  root: {}\n", hex(*writer.root()));
}

Status pack(const PackOptions& options) {
  const Result<ModelSource> model = ModelSource::open(options.inputs);
  if (!model) return model.error();
  HoloWriteOptions how = write_options(options);
  how.output = output_rule(options.force, model->paths());
  std::optional<ProgressLine> line(std::in_place, "packing");
  bool writing = false;
  const PackProgress progress{
      .encoded = [&](uint64_t done, uint64_t total) { line->update(done, total); },
      .written =
          [&](uint64_t done, uint64_t total) {
            if (!std::exchange(writing, true)) line.emplace("writing");
            line->update(done, total);
          }};
  const Result<HoloTensorWriter> writer =
      pack_model(*model, options.output, how, &ThreadPool::process(), progress);
  if (!writer) return writer.error();
  line.reset();
  for (const std::string& note : model->notes()) warn(note);
  print(options, *model, *writer);
  return {};
}

}  // namespace

int pack_command(const PackOptions& options) {
  const Status packed = pack(options);
  return packed ? kDone : report(packed.error());
}

}  // namespace hoist::cli
