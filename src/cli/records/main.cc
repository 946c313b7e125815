// hoist records: encodes text of records into columns, and back.
#include <csignal>
#include <memory>

#include "cli/command.h"
#include "cli/records/commands.h"
#include "cli/records/form_options.h"
#include "cli/report.h"
#include "cli/tool.h"

namespace hoist::cli {
namespace {

void add_encode(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("encode", "Encode text into an .hrec file");
  auto options = std::make_shared<EncodeOptions>();
  command
      ->add_option("IN", options->input,
                   "JSON Lines, CSV, key>>value or symbolic lines, logs, any text; - is standard "
                   "input")
      ->required();
  command->add_option("-o,--output", options->output, "The .hrec file; - is standard output")
      ->required()
      ->type_name("OUT");
  add_force(command, options->force);
  command->add_option("--format", options->format, "What the lines are; auto: by the first of them")
      ->check(CLI::IsMember({"auto", "json", "csv", "pairs", "symbolic", "log", "plain"}))
      ->capture_default_str();
  command
      ->add_option("--header", options->header,
                   "Whether the first line of a CSV has the names of its columns; auto: by the "
                   "first lines")
      ->check(CLI::IsMember({"auto", "yes", "no"}))
      ->capture_default_str();
  command->add_flag("--best", options->best, "Compress texts harder, and several times slower");
  command->add_flag("--json", options->json, "Print as JSON");
  command->footer(
      "Decoding gives the same bytes back, whatever they are.\n\n"
      "Examples:\n"
      "  hoist records encode trades.jsonl -o trades.hrec\n"
      "  zcat access.log.gz | hoist records encode - -o access.hrec --best");
  command->callback([&status, options] { status = encode_command(*options); });
}

void add_append(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("append", "Add rows to the end of an .hrec file");
  auto options = std::make_shared<AppendRecordsOptions>();
  command->add_option("IN", options->input, "The text; - is standard input")->required();
  command->add_option("FILE", options->file, "The .hrec file")->required();
  command
      ->add_option(
          "--commit-every", options->commit_every,
          "How long a row of a pipe waits for more before it is committed; 0s: for 8 MiB a "
          "thread")
      ->type_name("TIME")
      ->capture_default_str();
  command->add_flag("--best", options->best, "Compress texts harder, and several times slower");
  command->add_flag("--json", options->json, "Print as JSON");
  command->footer(
      "Rows are there for readers after every 8 MiB of text a thread, and those of a pipe after "
      "that time.\nA crash or a full disk leaves whole blocks. Ctrl-C commits the rows that were "
      "read.\n\n"
      "Examples:\n"
      "  hoist records append today.jsonl trades.hrec\n"
      "  tail -F app.log | hoist records append - app.hrec");
  command->callback([&status, options] { status = append_command(*options); });
}

void add_convert(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("convert", "Write records in another format of text");
  auto options = std::make_shared<ConvertRecordsOptions>();
  command
      ->add_option("IN", options->input,
                   "Text in one of the formats, or an .hrec file; - is standard input")
      ->required();
  command->add_option("-o,--output", options->output, "Where to write; - is standard output")
      ->capture_default_str()
      ->type_name("OUT");
  add_force(command, options->force);
  command->add_option("--to", options->form.to, "The format; else the end of OUT's name says it")
      ->check(CLI::IsMember(record_forms()));
  add_source(command, options->form, "IN");
  add_unparsed(command, options->form);
  command->footer(
      "jsonl is a JSON object a line, csv has a header, lt is key>>value key>>value, lts the same "
      "with glyphs\nfor some keys, ltu with __ in front of keys, sym symbolic lines. Nothing is "
      "lost: "
      "the way back gives the\nsame keys, values and digits in the same order. CSV is made in two "
      "passes over the text.\n\n"
      "Examples:\n"
      "  hoist records convert trades.jsonl -o trades.csv\n"
      "  hoist records convert trades.hrec --to lts\n"
      "  curl -s https://example.com/events | hoist records convert - --from jsonl --to csv");
  command->callback([&status, options] { status = convert_records_command(*options); });
}

void add_decode(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("decode", "Give the text back, all of it or some rows");
  auto options = std::make_shared<DecodeOptions>();
  command->add_option("FILE", options->file, "The .hrec file")->required();
  command->add_option("-o,--output", options->output, "Where to write; - is standard output")
      ->capture_default_str()
      ->type_name("OUT");
  add_force(command, options->force);
  add_text(command, "--rows", options->rows, "Rows A to B - 1, counted from 0")->type_name("A:B");
  command
      ->add_option("--where", options->where,
                   "Only rows for which this holds, as in 'timestamp>=1755392220'; may be repeated")
      ->type_name("CONDITION")
      ->allow_extra_args(false);
  std::vector<std::string> forms = record_forms();
  forms.emplace_back("arrow");
  CLI::Option* to =
      command
          ->add_option(
              "--to", options->form.to,
              "A format that the rows are converted to, as `hoist records convert` does; arrow "
              "as `hoist records columns` does")
          ->check(CLI::IsMember(forms));
  add_source(command, options->form, "FILE");
  add_floats(command, options->floats);
  add_unparsed(command, options->form);
  for (const char* name :
       {"--from", "--delimiter", "--no-header", "--floats", "--skip-unparsed", "--keep-text"}) {
    command->get_option(name)->needs(to);
  }
  command->footer(
      "Conditions are COLUMN=VALUE, or !=, <, <=, >, >= in place of =. `hoist records info` lists "
      "the\ncolumns; one with such a sign in its name stands between double quotes. Numbers are "
      "compared as\nnumbers.\n\n"
      "Examples:\n"
      "  hoist records decode trades.hrec -o trades.jsonl\n"
      "  hoist records decode trades.hrec --rows 1000:1010\n"
      "  hoist records decode trades.hrec --rows 1000:1010 --to csv\n"
      "  hoist records decode trades.hrec --where 'symbol=BTC-USD' --where 'close>117000'");
  command->callback([&status, options] { status = decode_command(*options); });
}

void add_columns(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("columns", "Write columns as arrays for NumPy, or as an Arrow file");
  auto options = std::make_shared<ColumnsOptions>();
  command->add_option("FILE", options->file, "The .hrec file")->required();
  command
      ->add_option("--select", options->select,
                   "Names of columns, with commas between them, those with a comma in double "
                   "quotes; none: all, in Arrow")
      ->allow_extra_args(false)
      ->type_name("NAMES");
  command
      ->add_option("-o,--output", options->output,
                   "The file: Arrow where it ends in .arrow, an Arrow stream where it ends in "
                   ".arrows or is -, else .npz")
      ->required()
      ->type_name("OUT");
  add_force(command, options->force);
  command->add_option("--to", options->to, "What OUT is, whatever its name")
      ->check(CLI::IsMember({"npz", "arrow"}));
  add_floats(command, options->floats);
  command->footer(
      "Of .npz, a column NAME of integers or other numbers is an array NAME. One of texts is two "
      "arrays: "
      "value i is\nNAME.bytes[NAME.offsets[i]:NAME.offsets[i + 1]]. Where not each row has exactly "
      "one value,\nNAME.rows has the row of each.\n\n"
      "An Arrow file has a batch for each block. Its columns have "
      "types: bool, int64, decimal128, float64,\ntimestamp, texts with and without dictionaries, "
      "binary, lists of these.\n\n"
      "Examples:\n"
      "  hoist records columns trades.hrec --select timestamp,close -o trades.npz\n"
      "  hoist records columns trades.hrec -o trades.arrow\n"
      "  hoist records decode trades.hrec --where 'symbol=BTC-USD' --to arrow | program");
  command->callback([&status, options] { status = columns_command(*options); });
}

void add_info(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("info", "Say what an .hrec file holds: bytes a column");
  auto options = std::make_shared<RecordsInfoOptions>();
  command->add_option("FILE", options->file, "The .hrec file")->required();
  add_text(command, "--plot", options->plot, "Draw what each column takes into an SVG file")
      ->type_name("SVG");
  add_force(command, options->force);
  command->add_flag("--json", options->json, "Print as JSON");
  command->footer(
      "Examples:\n"
      "  hoist records info trades.hrec\n"
      "  hoist records info trades.hrec --plot sizes.svg");
  command->callback([&status, options] { status = records_info_command(*options); });
}

void add_verify(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("verify", "Check every byte without decoding");
  auto options = std::make_shared<RecordsVerifyOptions>();
  command->add_option("FILE", options->files, ".hrec files")->required();
  command->add_flag("--json", options->json, "Print as JSON");
  command->footer("Exit status 1 where one is damaged.\n\nExample:\n  hoist records verify *.hrec");
  command->callback([&status, options] { status = records_verify_command(*options); });
}

void add_repair(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("repair", "Save the whole rows of a damaged .hrec file");
  auto options = std::make_shared<RecordsRepairOptions>();
  command->add_option("FILE", options->file, "The damaged or unfinished file, which is only read")
      ->required();
  command->add_option("-o,--output", options->output, "The new .hrec file")
      ->required()
      ->type_name("OUT");
  add_force(command, options->force);
  command->add_flag("--json", options->json, "Print as JSON");
  command->footer(
      "Every block whose bytes are whole is saved, wherever it lies by now. Says which rows are "
      "lost, as\nA:B for rows A to B - 1.\n\n"
      "Example:\n  hoist records repair damaged.hrec -o saved.hrec");
  command->callback([&status, options] { status = records_repair_command(*options); });
}

void add_bench(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("bench", "Measure encoding and decoding on this machine");
  auto options = std::make_shared<RecordsBenchOptions>();
  CLI::Option* files =
      command->add_option("FILE", options->files, "Text to measure with; none: generated candles");
  command->add_option("--size", options->size, "Bytes of generated candles, as in 64M")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{1} << 10, uint64_t{1} << 33))
      ->capture_default_str()
      ->excludes(files);
  command->add_option("--rounds", options->rounds, "How often each is measured: the median counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print as JSON");
  command->footer(
      "Encodes each text without and with --best, and decodes it to text and to columns, on one "
      "core\nand on "
      "all. MB/s are 10^6 bytes of the text a second. Nothing is written to disk: what is stored "
      "is\nkept in memory.\n\n"
      "Examples:\n"
      "  hoist records bench\n"
      "  hoist records bench access.log trades.jsonl --rounds 3\n"
      "  hoist records bench trades.jsonl --json");
  command->callback([&status, options] { status = records_bench_command(*options); });
}

}  // namespace
}  // namespace hoist::cli

int main(int argc, char** argv) {
  using namespace hoist::cli;
  // A limit of file sizes is an error of the write, which says so and leaves what was committed.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app("Encodes text of records into columns close to their entropy, and back.", argv[0]);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  hoist records encode trades.jsonl -o trades.hrec\n"
      "  hoist records info trades.hrec\n"
      "  hoist records decode trades.hrec --where 'symbol=BTC-USD'\n"
      "  hoist records convert trades.jsonl -o trades.csv\n"
      "  hoist records verify trades.hrec");
  int status = kDone;
  add_encode(app, status);
  add_append(app, status);
  add_decode(app, status);
  add_convert(app, status);
  add_columns(app, status);
  add_info(app, status);
  add_verify(app, status);
  add_repair(app, status);
  add_bench(app, status);
  return run_tool(app, argc, argv, [&] { return status; });
}
