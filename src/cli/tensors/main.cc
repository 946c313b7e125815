// hoist tensors: packs model weights so that they load progressively, and back.
#include <memory>

#include "cli/command.h"
#include "cli/report.h"
#include "cli/tensors/commands.h"
#include "cli/tool.h"

namespace hoist::cli {
namespace {

void add_pack(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("pack", "Pack model files into a .holo file");
  auto options = std::make_shared<PackOptions>();
  command
      ->add_option(
          "IN", options->inputs,
          "safetensors (one, several, a folder, model.safetensors.index.json), GGUF, .npy, "
          ".npz")
      ->required();
  command->add_option("-o,--output", options->output, "The .holo file")
      ->required()
      ->type_name("OUT");
  add_force(command, options->force);
  command->add_option("--encoding", options->encoding, "How floating-point tensors are encoded")
      ->check(CLI::IsMember({"embedded", "spectral", "rph", "lrdf", "lossless"}))
      ->capture_default_str();
  command->add_option("--fragments", options->fragments, "Shards of a group of data")
      ->check(CLI::Range(1, 255))
      ->capture_default_str();
  command->add_option("--parity", options->parity, "Shards of a group that may be lost")
      ->check(CLI::Range(0, 254))
      ->capture_default_str();
  command->add_option("--order", options->order, "What lies together")
      ->check(CLI::IsMember({"layer", "tensor"}))
      ->capture_default_str();
  command->add_option("--precision", options->precision, "Of transforms' coefficients")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}));
  command->add_option("--seed", options->seed, "Of permutations and projections")
      ->check(count())
      ->capture_default_str();
  command->add_option("--rank", options->max_rank, "lrdf: most components")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--essential-share", options->essential_share,
                   "spectral: lowest frequencies that are in every fragment")
      ->check(number_in(0, 1))
      ->capture_default_str();
  command->add_flag("--digests", options->digests,
                    "Add BLAKE3 digests and print the root, for readers that trust no source");
  command->add_flag("--json", options->json, "Print as JSON");
  command->footer(
      "Examples:\n"
      "  hoist tensors pack model.safetensors -o model.holo\n"
      "  hoist tensors pack models/llama/ -o llama.holo --fragments 10 --parity 2\n"
      "  hoist tensors pack weights.npz -o weights.holo --encoding spectral --precision f16");
  command->callback([&status, options] { status = pack_command(*options); });
}

void add_unpack(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("unpack", "Give the packed files back, whole or roughly");
  auto options = std::make_shared<UnpackOptions>();
  command->add_option("FILE", options->input, "The .holo file")->required();
  command
      ->add_option("-o,--output", options->output,
                   "A file; for several packed files a folder, or one .safetensors for all tensors")
      ->required()
      ->type_name("OUT");
  add_force(command, options->force);
  CLI::Option* target =
      command->add_option("--target", options->target, "The fewest parts that reach this quality")
          ->check(number_in(0, 1));
  CLI::Option* layers =
      command->add_option("--layers", options->layers, "Only this many parts, from the first")
          ->check(CLI::Range(1, 255))
          ->excludes(target);
  CLI::Option* fragments = command
                               ->add_option("--fragments", options->fragments,
                                            "These fragments of spectral, rph or lrdf, as in 0,2-4")
                               ->type_name("LIST")
                               ->excludes(target)
                               ->excludes(layers);
  command
      ->add_option("--policy", options->policy,
                   "Quality of the tensors whose names match, as in '*attention.*=0.999@10' (the "
                   "highest priority counts); --target is for the others")
      ->type_name("RULE")
      ->allow_extra_args(false)
      ->excludes(layers)
      ->excludes(fragments);
  command
      ->add_option("--min-quality", options->min_quality,
                   "Go on without parts that are damaged, as long as each tensor reaches it")
      ->check(number_in(0, 1));
  command->add_flag("--skip-damaged", options->skip_damaged,
                    "Leave out tensors that are damaged beyond repair, and name them");
  command
      ->add_option("--source", options->sources,
                   "A further copy of FILE, used where the first is damaged")
      ->type_name("COPY")
      ->allow_extra_args(false);
  command->add_flag("--json", options->json, "Print as JSON");
  command->footer(
      "Without further options the output is the packed file, byte for byte, where the encoding "
      "is\n"
      "embedded or lossless. With --skip-damaged the exit status is 0 as long as a tensor was "
      "saved;\n"
      "standard error and \"left_out\" in JSON name the others.\n\n"
      "Examples:\n"
      "  hoist tensors unpack model.holo -o again.safetensors\n"
      "  hoist tensors unpack model.holo -o rough.safetensors --target 0.99\n"
      "  hoist tensors unpack model.holo -o out/ --policy '*norm*=1@1' --target 0.95\n"
      "  hoist tensors unpack weights.holo -o w.safetensors --fragments 0,2-4\n"
      "  hoist tensors unpack bad.holo -o rest.safetensors --skip-damaged");
  command->callback([&status, options] { status = unpack_command(*options); });
}

void add_info(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("info", "Say what a .holo file holds, and how good it is");
  auto options = std::make_shared<TensorsInfoOptions>();
  command->add_option("FILE", options->file, "The .holo file; with --packed any model file")
      ->required();
  CLI::Option* plot =
      command->add_option("--plot", options->plot, "Draw error over size into an SVG file")
          ->type_name("SVG");
  command
      ->add_flag("--packed", options->packed,
                 "Say what weights that stay packed in memory would take, and gain on this GPU")
      ->excludes(plot);
  add_force(command, options->force);
  command->add_flag("--json", options->json, "Print as JSON");
  command->footer(
      "Examples:\n"
      "  hoist tensors info model.holo --plot curve.svg\n"
      "  hoist tensors info model.safetensors --packed");
  command->callback([&status, options] {
    status = options->packed ? tensors_packed_command(*options) : tensors_info_command(*options);
  });
}

void add_verify(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("verify", "Check every byte without decoding");
  auto options = std::make_shared<TensorsVerifyOptions>();
  command->add_option("FILE", options->files, ".holo files")->required();
  command->add_flag("--json", options->json, "Print as JSON");
  command->footer(
      "Exit status 1 where one is damaged; says whether its parity can mend it.\n\nExample:\n"
      "  hoist tensors verify models/*.holo");
  command->callback([&status, options] { status = tensors_verify_command(*options); });
}

void add_repair(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("repair", "Rewrite a damaged file from its parity, as it was");
  auto options = std::make_shared<TensorsRepairOptions>();
  command->add_option("FILE", options->file, "The damaged .holo file")->required();
  command
      ->add_option("-o,--output", options->output,
                   "Where to write it; without it FILE is replaced once the new one is whole")
      ->type_name("OUT");
  add_force(command, options->force);
  command->add_flag("--json", options->json, "Print as JSON");
  command->footer("Example:\n  hoist tensors repair model.holo");
  command->callback([&status, options] { status = tensors_repair_command(*options); });
}

void add_bench(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("bench", "Measure packing and loading on this machine");
  auto options = std::make_shared<TensorsBenchOptions>();
  command->add_option("--size", options->size, "Bytes of weights, as in 256M")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{1} << 20, uint64_t{1} << 36));
  command->add_option("--folder", options->folder, "Where to put the files, three times the size")
      ->type_name("DIR");
  command->add_flag("--json", options->json, "Print as JSON");
  command
      ->add_flag("--packed", options->packed,
                 "Measure weights that stay packed in memory instead: products on a GPU")
      ->excludes("--size")
      ->excludes("--folder");
  command->footer(
      "Examples:\n"
      "  hoist tensors bench --size 1G\n"
      "  hoist tensors bench --packed");
  command->callback([&status, options] {
    status =
        options->packed ? tensors_packed_bench_command(*options) : tensors_bench_command(*options);
  });
}

}  // namespace
}  // namespace hoist::cli

int main(int argc, char** argv) {
  using namespace hoist::cli;
  CLI::App app("Packs model weights so that they load progressively and survive damage, and back.",
               argv[0]);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  hoist tensors pack model.safetensors -o model.holo --parity 2\n"
      "  hoist tensors info model.holo\n"
      "  hoist tensors unpack model.holo -o rough.safetensors --target 0.99\n"
      "  hoist tensors verify model.holo && hoist tensors repair model.holo");
  int status = kDone;
  add_pack(app, status);
  add_unpack(app, status);
  add_info(app, status);
  add_verify(app, status);
  add_repair(app, status);
  add_bench(app, status);
  return run_tool(app, argc, argv, [&] { return status; });
}
