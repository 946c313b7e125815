// hoist tune: measures every implementation on this machine and writes the profile.
#include "cli/command.h"
#include "cli/tool.h"
#include "cli/tune/tune.h"

int main(int argc, char** argv) {
  using namespace hoist::cli;
  CLI::App app("Measures what runs fastest where on this machine, and writes the profile", argv[0]);
  TuneOptions options;
  app.add_flag("--quick", options.quick, "Fewer and smaller sizes: less than a minute");
  suggest(app.add_option("--op", options.operation, "Only this OPERATION or OPERATION/VARIANT"),
          "sort hash gunzip qsort gemm aes crc32 px")
      ->type_name("OP");
  app.add_option("--seconds", options.seconds, "Time to take: 48 for --quick, else 480")
      ->check(number_in(1, 86400));
  app.add_flag("--refine", options.refine,
               "Measure nothing: fold the noted timings of real runs into the profile");
  app.add_flag("--force", options.force,
               "Replace earlier measurements even where the new ones scatter");
  app.add_flag("--json", options.json, "Print as JSON");
  app.footer(
      "The profile is $XDG_CACHE_HOME/hoist/profile.json (HOIST_PROFILE=FILE: that file). An\n"
      "interrupt leaves it as it was. Measure on an idle machine.\n\n"
      "Examples:\n"
      "  hoist tune --quick\n"
      "  hoist tune --op sort\n"
      "  hoist tune --op hash/sha256sum --json");
  return run_tool(app, argc, argv, [&] { return tune_command(options); });
}
