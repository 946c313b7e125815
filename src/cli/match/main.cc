// hoist match: exact similarity search over patterns of symbols.
#include <memory>

#include "cli/command.h"
#include "cli/match/commands.h"
#include "cli/match/grep.h"
#include "cli/match/serve_options.h"
#include "cli/report.h"
#include "cli/tool.h"

namespace hoist::cli {
namespace {

CLI::Option* add_format(CLI::App* command, std::string& format) {
  return command->add_option("--format", format, "jsonl, or lines: words, each an event of its own")
      ->check(CLI::IsMember({"jsonl", "lines"}))
      ->type_name("FORMAT")
      ->capture_default_str();
}

// No flag that negates: help would show its value.
void add_no_sort(CLI::App* command, bool& sort) {
  command->add_flag_callback(
      "--no-sort", [&sort] { sort = false; }, "Keep the order of the symbols inside events");
}

void add_max_memory(CLI::App* command, std::string& limit) {
  command->add_option("--max-memory", limit, "Refuse an index that takes more memory: 800M, 2G")
      ->type_name("SIZE");
}

void add_device(CLI::App* command, std::string& device) {
  suggest(command->add_option(
              "--device", device,
              "Where to search: cpu, cuda:N, cuda:N,cuda:M, or auto: a GPU once it pays"),
          "auto cpu cuda:0")
      ->type_name("DEVICE")
      ->capture_default_str();
}

// The parser of scorers checks the name.
void add_scorer(CLI::App* command, std::string& scorer) {
  suggest(command->add_option("--scorer", scorer,
                              "kato, lcs, indel, levenshtein, difflib or difflib-autojunk"),
          "kato lcs indel levenshtein difflib difflib-autojunk")
      ->type_name("SCORER")
      ->capture_default_str();
}

void add_build(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("build", "Build an index of the patterns of a file");
  auto options = std::make_shared<MatchBuildOptions>();
  command->add_option("-i,--input", options->input, "The patterns; - is standard input")
      ->required()
      ->type_name("FILE");
  command->add_option("-o,--output", options->output, "The new index, a folder")
      ->required()
      ->type_name("INDEX");
  command->add_flag("--force", options->force, "Replace an index that is there");
  add_format(command, options->format);
  add_no_sort(command, options->sort);
  command->add_flag_callback(
      "--no-store", [options] { options->store = false; },
      "Search-only: nothing can be learned later");
  add_max_memory(command, options->max_memory);
  command->footer(
      "A line is a list of events, [[\"a\",\"b\"],[\"c\"]], or an object:\n"
      "  {\"name\":…,\"events\":[[…]],\"frequency\":3,\"emotives\":{…},\"metadata\":{…}}\n"
      "Only events must be there. The same pattern again raises its frequency.\n\n"
      "Examples:\n"
      "  hoist match build -i patterns.jsonl -o shop.index\n"
      "  hoist match build --format lines -i log.txt -o log.index");
  command->callback([&status, options] { status = match_build(*options); });
}

void add_query(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("query", "Find the patterns that resemble a state");
  auto options = std::make_shared<MatchQueryOptions>();
  command->add_option("INDEX", options->index, "The index")->required();
  command->add_option("--state", options->state, "A list of events, as JSON")->type_name("STATE");
  command
      ->add_option("--states", options->states,
                   "A file with a state on each line; - is standard input")
      ->type_name("FILE");
  command->add_option("--threshold", options->threshold, "The least similarity, 0 to 1")
      ->check(number_in(0, 1))
      ->capture_default_str();
  command->add_option("--top", options->top, "Number of results (0 = all)")
      ->check(count())
      ->capture_default_str();
  add_scorer(command, options->scorer);
  command->add_option("--rank", options->rank, "kato: the key by which records are ranked")
      ->type_name("KEY")
      ->default_str("potential");
  command->add_option("--fuzzy", options->fuzzy, "kato: let symbols match that are alike, 0 to 1")
      ->check(number_in(0, 1));
  command->add_flag("--no-sort", options->keep_order,
                    "The order inside events counts: for an index built so");
  command->add_flag("--show", options->show, "Print the patterns' text, too");
  CLI::Option* json = command->add_flag("--json", options->json, "Print an array of records");
  command->add_flag("--jsonl", options->jsonl, "Print a record, or with --states an array, a line")
      ->excludes(json);
  add_max_memory(command, options->max_memory);
  add_device(command, options->device);
  command->footer(
      "Examples:\n"
      "  hoist match query shop.index --state '[[\"shoe\"],[\"sock\"]]' --json\n"
      "  hoist match query shop.index --states carts.jsonl --scorer lcs --top 5 --jsonl");
  command->callback([&status, options] { status = match_query(*options); });
}

void add_learn(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("learn", "Learn the patterns of a file");
  auto options = std::make_shared<MatchLearnOptions>();
  command->add_option("INDEX", options->index, "The index")->required();
  command->add_option("-i,--input", options->input, "The patterns; - is standard input")
      ->default_str("-")
      ->type_name("FILE");
  options->input = "-";
  add_format(command, options->format);
  command
      ->add_option("--durability", options->durability,
                   "batch: survives a kill; sync: also a power cut")
      ->check(CLI::IsMember({"batch", "sync"}))
      ->capture_default_str();
  add_max_memory(command, options->max_memory);
  command->footer(
      "Prints the name of each pattern once it is durable.\n\nExample:\n"
      "  echo '[[\"shoe\"],[\"sock\"]]' | hoist match learn shop.index");
  command->callback([&status, options] { status = match_learn(*options); });
}

void add_delete(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("delete", "Remove patterns");
  auto index = std::make_shared<std::string>();
  auto names = std::make_shared<std::vector<std::string>>();
  command->add_option("INDEX", *index, "The index")->required();
  command->add_option("NAME", *names, "Names of patterns")->required();
  command->footer(
      "Exit status 1 where there is none of that name.\n\nExample:\n"
      "  hoist match delete shop.index 84a8460921254c158ba6f097de303bbffa0915ed");
  command->callback([&status, index, names] { status = match_delete(*index, *names); });
}

void add_show(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("show", "Print patterns and what is known of them");
  auto index = std::make_shared<std::string>();
  auto names = std::make_shared<std::vector<std::string>>();
  auto json = std::make_shared<bool>(false);
  command->add_option("INDEX", *index, "The index")->required();
  command->add_option("NAME", *names, "Names of patterns")->required();
  command->add_flag("--json", *json, "Print as JSON");
  command->footer(
      "Exit status 1 where there is none of that name.\n\nExample:\n"
      "  hoist match show shop.index e5c17772fa8926153d1b4d751a0b5fcaf22f1b6f");
  command->callback([&status, index, names, json] { status = match_show(*index, *names, *json); });
}

void add_sync(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("sync", "Lay out what was learned and save the snapshot");
  auto index = std::make_shared<std::string>();
  command->add_option("INDEX", *index, "The index")->required();
  command->footer("Example:\n  hoist match sync shop.index");
  command->callback([&status, index] { status = match_sync(*index); });
}

void add_repair(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("repair", "Make a new index of what is whole in a damaged one");
  auto index = std::make_shared<std::string>();
  auto output = std::make_shared<std::string>();
  auto force = std::make_shared<bool>(false);
  auto json = std::make_shared<bool>(false);
  command->add_option("INDEX", *index, "The damaged index, which stays as it is")->required();
  command->add_option("-o,--output", *output, "The new index, a folder")
      ->required()
      ->type_name("NEW");
  command->add_flag("--force", *force, "Replace an index that is there");
  command->add_flag("--json", *json, "Print as JSON");
  command->footer(
      "Keeps every pattern whose checksums hold; prints how many were saved and how many lost.\n\n"
      "Example:\n"
      "  hoist match repair shop.index -o repaired.index");
  command->callback([&status, index, output, force, json] {
    status = match_repair(*index, *output, *force, *json);
  });
}

void add_report(CLI::App& app, int& status, const char* name, const char* description,
                int (*run)(const std::string&, bool)) {
  CLI::App* command = app.add_subcommand(name, description);
  auto index = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("INDEX", *index, "The index")->required();
  command->add_flag("--json", *json, "Print as JSON");
  command->footer(std::string("Example:\n  hoist match ") + name + " shop.index");
  command->callback([&status, index, json, run] { status = run(*index, *json); });
}

void add_dedup(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("dedup", "Print all pairs of lines that are alike");
  auto options = std::make_shared<MatchDedupOptions>();
  command->add_option("FILE", options->file, "The lines; - is standard input")->required();
  command->add_option("--threshold", options->threshold, "The least similarity, 0 to 1")
      ->check(number_in(0, 1))
      ->required();
  const CLI::Option* const format =
      add_format(command, options->format)->default_str("lines; jsonl where the file is called so");
  add_scorer(command, options->scorer);
  add_no_sort(command, options->sort);
  command->add_flag("--jsonl", options->jsonl, "Print an object a line");
  command->footer(
      "Prints LINE, LINE and similarity. Memory: that of the index and of the file.\n\nExample:\n"
      "  hoist match dedup paragraphs.txt --threshold 0.8");
  command->callback([&status, options, format] {
    if (format->empty() && options->file.ends_with(".jsonl")) options->format = "jsonl";
    status = match_dedup(*options);
  });
}

void add_grep(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("grep", "Print the lines of files that resemble a line");
  command->set_help_flag("--help", "Print this help message and exit");  // -h is grep's
  auto options = std::make_shared<MatchGrepOptions>();
  command->add_option("PATTERN", options->pattern, "The line")->required();
  command->add_option("FILE", options->files,
                      "Files; - is standard input, as is none. With -r also folders");
  suggest(command->add_option("--scorer", options->scorer, "indel, levenshtein or lcs"),
          "indel levenshtein lcs")
      ->type_name("SCORER")
      ->capture_default_str();
  command->add_option("--threshold", options->threshold, "The least similarity, 0 to 1")
      ->check(number_in(0, 1))
      ->capture_default_str();
  command->add_option("-k,--top", options->top, "Only the N best lines, best first (0 = all)")
      ->check(count())
      ->type_name("N");
  command->add_flag("-r,--recursive", options->recursive, "Search the files of folders");
  command->add_flag("-i,--ignore-case", options->ignore_case, "Upper and lower case are the same");
  command->add_flag("-v,--invert-match", options->invert, "The lines that do not resemble it");
  command->add_flag("-c,--count", options->count, "Print the number of lines of each file");
  command->add_flag("-n,--line-number", options->numbers, "Print line numbers");
  command->add_flag_callback(
      "-H,--with-filename", [options] { options->names = true; }, "Print names of files");
  command->add_flag_callback(
      "-h,--no-filename", [options] { options->names = false; }, "Print no names of files");
  const auto add_context = [&](const char* name, auto& lines, const char* description) {
    command->add_option(name, lines, description)->check(count())->type_name("N");
  };
  add_context("-A,--after-context", options->after, "Print N lines behind each one, too");
  add_context("-B,--before-context", options->before, "Print N lines before each one, too");
  add_context("-C,--context", options->around, "Both");
  command->add_option("--color", options->color, "Colour what a line has in common with PATTERN")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print an object a line, with the similarity");
  command->footer(
      "Exit status: 0 some lines, 1 none, 2 an error.\n\nExamples:\n"
      "  hoist match grep -n 'jumps over the lazy fox' log.txt\n"
      "  hoist match grep -r -k 5 'jumps over the lazy fox' .");
  command->callback([&status, options] { status = match_grep(*options); });
}

void add_bench(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("bench", "Measure learning, queries, sync and opening");
  auto options = std::make_shared<MatchBenchOptions>();
  command->add_option("--patterns", options->patterns, "Number of patterns")
      ->check(CLI::Range(1000u, 100'000'000u))
      ->capture_default_str();
  command->add_option("--length", options->length, "Symbols in each pattern")
      ->check(CLI::Range(2u, 65'535u))
      ->capture_default_str();
  command->add_option("--symbols", options->symbols, "Different symbols, Zipf-distributed")
      ->check(CLI::Range(1u, 10'000'000u))
      ->capture_default_str();
  add_device(command, options->device);
  command->add_flag("--json", options->json, "Print as JSON");
  command->footer(
      "Works in $TMPDIR, else /tmp.\n\nExample:\n  hoist match bench --patterns 100000");
  command->callback([&status, options] { status = match_bench(*options); });
}

// `arguments` are what this program was called with, from "serve" on: another program reads them.
void add_serve(CLI::App& app, int& status, char** arguments) {
  CLI::App* command = app.add_subcommand("serve", "Serve indexes over HTTP, with KATO's interface");
  auto options = std::make_shared<ServeOptions>();
  declare_serve(*command, *options);
  command->callback([&status, options, arguments] { status = match_serve(arguments); });
}

}  // namespace
}  // namespace hoist::cli

int main(int argc, char** argv) {
  using namespace hoist::cli;
  CLI::App app("Exact similarity search over patterns: lists of events of symbols.", argv[0]);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  hoist match build -i patterns.jsonl -o shop.index\n"
      "  hoist match query shop.index --state '[[\"shoe\"],[\"sock\"]]'\n"
      "  hoist match dedup paragraphs.txt --threshold 0.8\n"
      "  hoist match serve shop");
  int status = kDone;
  add_build(app, status);
  add_query(app, status);
  add_learn(app, status);
  add_delete(app, status);
  add_show(app, status);
  add_sync(app, status);
  add_report(app, status, "stats", "Say what an index holds", match_stats);
  add_report(app, status, "verify", "Compare memory, snapshot and store", match_verify);
  add_repair(app, status);
  add_dedup(app, status);
  add_grep(app, status);
  add_serve(app, status, argv + 1);
  add_bench(app, status);
  return run_tool(app, argc, argv, [&] { return status; });
}
