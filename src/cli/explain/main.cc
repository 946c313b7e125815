// hoist explain: what placement chooses for an operation, and why.
#include "cli/command.h"
#include "cli/explain/explain.h"
#include "cli/tool.h"

int main(int argc, char** argv) {
  using namespace hoist::cli;
  CLI::App app("Says what placement chooses for an operation on this machine, and why", argv[0]);
  ExplainOptions options;
  suggest(app.add_option("OP", options.operation, "OPERATION or OPERATION/VARIANT"),
          "sort hash gunzip qsort gemm aes crc32 px")
      ->required();
  CLI::Option* const sizes =
      app.add_option("SIZE", options.sizes, "Sizes of input: 65536, 64K, 1M, 2G");
  app.add_option("--plot", options.plot, "Draw predicted time over size into an SVG file")
      ->type_name("FILE");
  add_force(&app, options.force);
  CLI::Option* const cpus =
      app.add_option("--cpus", options.cpus,
                     "Assume this number of free CPUs, not the number that is free now")
          ->check(CLI::Range(1, 1 << 20));
  app.add_flag("--measured", options.measured,
               "What was measured at each size, and what the choice costs over the fastest")
      ->excludes(sizes)
      ->excludes(cpus);
  app.add_flag("--json", options.json, "Print as JSON");
  app.footer(
      "Examples:\n"
      "  hoist explain sort\n"
      "  hoist explain hash/sha256sum 64K 1M 2G\n"
      "  hoist explain sort --cpus 1\n"
      "  hoist explain sort/C --measured\n"
      "  hoist explain sort/C --plot sort.svg");
  return run_tool(app, argc, argv, [&] { return explain_command(options); });
}
