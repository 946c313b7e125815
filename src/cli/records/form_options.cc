#include "cli/records/form_options.h"

namespace hoist::cli {

std::vector<std::string> record_forms() { return {"jsonl", "csv", "lt", "lts", "ltu", "sym"}; }

void add_floats(CLI::App* command, bool& floats) {
  command->add_flag("--floats", floats,
                    "Arrow: decimal numbers as float64, the nearest, in place of decimal128");
}

void add_source(CLI::App* command, RecordForm& form, const std::string& in) {
  std::vector<std::string> sources = {"auto"};
  for (const std::string& form : record_forms()) sources.push_back(form);
  sources.emplace_back("lines");
  command
      ->add_option("--from", form.from,
                   "What the rows of " + in +
                       " are; auto: what they look like, and what its name says; lines: each is a "
                       "record with one key")
      ->check(CLI::IsMember(sources))
      ->capture_default_str();
  add_text(command, "--delimiter", form.delimiter, "What parts the fields of a CSV in " + in)
      ->type_name("CHARACTER");
  command->add_flag("--no-header", form.no_header,
                    in + " is CSV without a header: its keys are 0, 1, and so on");
}

void add_unparsed(CLI::App* command, RecordForm& form) {
  CLI::Option* skip = command->add_flag(
      "--skip-unparsed", form.skip_unparsed,
      "Leave out rows that are no records, and say how many; else they are an error");
  add_text(command, "--keep-text", form.keep_text,
           "Make rows that are no records ones with this key and their text")
      ->type_name("KEY")
      ->excludes(skip);
}

}  // namespace hoist::cli
