// hoist px: kernels written once, in a small language, for CPU and GPU.
#include <memory>

#include "cli/command.h"
#include "cli/px/commands.h"
#include "cli/report.h"
#include "cli/tool.h"

namespace hoist::cli {
namespace {

void add_check(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("check", "Report errors and warnings");
  auto options = std::make_shared<PxCheckOptions>();
  command->add_option("FILE", options->files, "px files; - is standard input")->required();
  command->add_flag("--json", options->json, "Print them as JSON");
  command->footer("Exit status 1 where a file has errors.\n\nExample:\n  hoist px check k.px");
  command->callback([&status, options] { status = px_check(*options); });
}

void add_run(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("run", "Run the launches of a file");
  auto options = std::make_shared<PxRunOptions>();
  command->add_option("FILE", options->file, "The px file")->required();
  const auto add_list = [&](const char* name, auto& values, const char* type,
                            const char* description) {
    command->add_option(name, values, description)
        ->type_name(type)
        ->allow_extra_args(false)
        ->take_all();
  };
  add_list("--in", options->inputs, "ARRAY=FILE", "Read an array, .npy or raw");
  add_list("--out", options->outputs, "ARRAY=FILE", "Write an array, .npy or raw");
  add_list("--set", options->scalars, "NAME=VALUE", "Give a scalar its value");
  add_list("--len", options->lengths, "ARRAY=N", "Begin with an array of N zeros");
  command->add_option("--target", options->target, "Where to run it; auto: a GPU where it pays")
      ->check(CLI::IsMember({"auto", "cpu", "cuda", "interpreter"}))
      ->type_name("TARGET")
      ->capture_default_str();
  // Two flags: one that negates would show its value in the help.
  command->add_flag_callback(
      "--check-bounds", [options] { options->check_bounds = true; },
      "Find accesses beyond an array's end, which is done unless the next one is given");
  command->add_flag_callback(
      "--no-check-bounds", [options] { options->check_bounds = false; }, "Leave these checks out");
  command->add_flag("--time", options->time, "Print how long compiling, copies and launches took");
  command->add_flag("--explain", options->explain, "Only print where it would run, and why");
  command->add_flag("--json", options->json, "Print times and arrays as JSON");
  add_force(command, options->force);
  command->footer(
      "An array that no option names is as long as the first input, and zero.\n\n"
      "Examples:\n"
      "  hoist px run saxpy.px --in x=x.npy --in y=y.npy --set n=1000 --set a=2 --out y=z.npy\n"
      "  hoist px run fill.px --len array=16 --set value=7 --set size=16");
  command->callback([&status, options] { status = px_run(*options); });
}

void add_build(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("build", "Write C++ and CUDA sources that need nothing of Hoist");
  auto options = std::make_shared<PxBuildOptions>();
  command->add_option("FILE", options->file, "The px file, NAME.px")->required();
  command->add_option("-o,--output", options->folder, "Where NAME.h, NAME.cc and NAME.cu go")
      ->type_name("FOLDER")
      ->capture_default_str();
  command->add_flag("--lib", options->library, "Compile NAME.cc, too: libNAME.so");
  add_force(command, options->force);
  command->footer("Example:\n  hoist px build saxpy.px --lib");
  command->callback([&status, options] { status = px_build(*options); });
}

void add_emit(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("emit", "Print what a stage of the compiler makes");
  auto options = std::make_shared<PxEmitOptions>();
  command->add_option("FILE", options->file, "The px file")->required();
  command->add_option("--stage", options->stage, "The stage")
      ->check(CLI::IsMember({"ast", "ir", "cuda", "cpp", "ptx"}))
      ->required()
      ->type_name("STAGE");
  command->add_flag("--check-bounds", options->check_bounds, "With the checks of every access");
  command->footer("Example:\n  hoist px emit k.px --stage ir");
  command->callback([&status, options] { status = px_emit(*options); });
}

void add_format(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("fmt", "Lay files out, in place");
  auto options = std::make_shared<PxFormatOptions>();
  command->add_option("FILE", options->files, "px files; - goes to standard output")->required();
  command->add_flag("--check", options->check, "Only name the files that would change");
  command->footer(
      "Exit status 1 where a file has errors, or with --check would change.\n\n"
      "Example:\n  hoist px fmt k.px");
  command->callback([&status, options] { status = px_format(*options); });
}

}  // namespace
}  // namespace hoist::cli

int main(int argc, char** argv) {
  using namespace hoist::cli;
  CLI::App app("Kernels written once in a small language, run on CPU and GPU.", argv[0]);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  hoist px check k.px\n"
      "  hoist px run k.px --in a=a.npy --len c=1000 --out c=c.npy --set n=1000");
  int status = kDone;
  add_check(app, status);
  add_run(app, status);
  add_build(app, status);
  add_emit(app, status);
  add_format(app, status);
  return run_tool(app, argc, argv, [&] { return status; });
}
