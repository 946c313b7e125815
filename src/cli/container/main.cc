// hoist container: looks into container files, verifies and repairs them.
#include <memory>

#include "cli/command.h"
#include "cli/container/commands.h"
#include "cli/report.h"
#include "cli/tool.h"

namespace hoist::cli {
namespace {

void add_info(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("info", "Say what a container holds");
  auto options = std::make_shared<InfoOptions>();
  command->add_option("FILE", options->file, "The container")->required();
  command->add_flag("--blocks", options->blocks, "List the blocks");
  command->add_flag("--json", options->json, "Print as JSON");
  command->footer("Example:\n  hoist container info --blocks weights.holo");
  command->callback([&status, options] { status = info_command(*options); });
}

void add_verify(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("verify", "Check every byte without decoding");
  auto options = std::make_shared<VerifyFilesOptions>();
  command->add_option("FILE", options->files, "Containers")->required();
  command->add_flag("--json", options->json, "Print as JSON");
  command->footer(
      "Exit status 1 where one is damaged.\n\nExample:\n"
      "  hoist container verify *.holo");
  command->callback([&status, options] { status = verify_command(*options); });
}

void add_repair(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("repair", "Save what is intact into a new file; the old one is only read");
  auto options = std::make_shared<RepairFileOptions>();
  command->add_option("FILE", options->file, "The damaged container")->required();
  command->add_option("-o,--output", options->output, "The new container")
      ->required()
      ->type_name("OUT");
  add_force(command, options->force);
  command->add_flag("--json", options->json, "Print as JSON");
  command->footer(
      "Says what is lost.\n\nExample:\n"
      "  hoist container repair bad.holo -o good.holo");
  command->callback([&status, options] { status = repair_command(*options); });
}

}  // namespace
}  // namespace hoist::cli

int main(int argc, char** argv) {
  using namespace hoist::cli;
  CLI::App app(
      "Looks into container files (.holo, .hrec, match snapshots), verifies and repairs them.",
      argv[0]);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  hoist container info weights.holo\n"
      "  hoist container verify --json *.holo\n"
      "  hoist container repair bad.holo -o good.holo");
  int status = kDone;
  add_info(app, status);
  add_verify(app, status);
  add_repair(app, status);
  return run_tool(app, argc, argv, [&] { return status; });
}
