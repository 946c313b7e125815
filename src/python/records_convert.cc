#include "python/records_convert.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>

#include "base/file.h"
#include "python/errors.h"
#include "python/interruptible.h"
#include "python/records_encode.h"
#include "python/tensors_path.h"
#include "records/convert/text_source.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

using namespace records;

TextForm form_of(const std::string& name) {
  const std::optional<TextForm> form = text_form(name);
  if (form) return *form;
  raise({ErrorCode::invalid_argument, "no format " + name + ": jsonl, csv, lt, lts, ltu or sym"});
}

TextForm source_of(const std::string& name) {
  const std::optional<TextForm> form = source_form(name);
  return form ? *form : form_of(name);
}

char delimiter_of(const std::string& text) {
  if (text.size() == 1 && text.find_first_of("\"\r\n") == std::string::npos) return text[0];
  raise({ErrorCode::invalid_argument,
         "a delimiter is one ASCII character, and no quote or line end"});
}

// How Python says it: names, and None for what the text says itself.
struct Asked {
  std::string to;
  std::optional<std::string> format;
  std::optional<std::string> delimiter;
  bool header = true;
  bool skip = false;
  std::optional<std::string> keep;
};

SourceOptions options_of(const Asked& asked) {
  SourceOptions options;
  options.to = form_of(asked.to);
  if (asked.format) options.from = source_of(*asked.format);
  if (asked.delimiter) options.delimiter = delimiter_of(*asked.delimiter);
  options.no_header = !asked.header;
  if (asked.skip) options.unparsed = Unparsed::skip;
  if (asked.keep) {
    options.unparsed = Unparsed::keep;
    options.keep_key = *asked.keep;
  }
  return options;
}

using Run = std::function<Result<Converted>(const std::stop_token& stop, const WriteText& write)>;

Result<Converted> run_into_file(const Run& run, const std::string& path, OutputRule rule,
                                const std::stop_token& stop) {
  Result<OutputFile> file = OutputFile::create(path, std::move(rule));
  if (!file) return file.error();
  Result<Converted> done = run(stop, [&](std::string_view piece) {
    return write_full(file->fd(), piece.data(), piece.size(), path);
  });
  if (!done) return done;
  if (Status published = file->publish(); !published) return published.error();
  return done;
}

// Converts a file, or `text` where there is no path, into another file or to write(bytes). Gives
// the counts of records and of rows that were left out.
std::pair<uint64_t, uint64_t> convert(const std::optional<FilePath>& path, const nb::bytes& text,
                                      const SourceOptions& options,
                                      const std::optional<FilePath>& output,
                                      const nb::object& write, bool replace,
                                      const std::vector<FilePath>& inputs) {
  const std::string_view whole(text.c_str(), text.size());
  std::vector<std::string> names;
  for (const FilePath& input : inputs) names.push_back(input.text);
  Callback callback(write);
  const Run run = [&](const std::stop_token& stop, const WriteText& take) {
    SourceOptions how = options;
    how.stop = stop;
    return path ? convert_file(path->text, how, take) : convert_bytes(whole, how, take);
  };
  const Result<Converted> done = [&]() -> Result<Converted> {
    if (output) {
      return interruptible(true, [&](const std::stop_token& stop) {
        return run_into_file(run, output->text, records_rule(replace, names), stop);
      });
    }
    const ReleasedGil released;
    return run({}, [&](std::string_view piece) {
      return callback.call(
          [&](const nb::object& function) { function(nb::bytes(piece.data(), piece.size())); });
    });
  }();
  callback.check_raised();
  if (!done) raise(done.error());
  return {done->records, done->skipped};
}

}  // namespace

void define_records_convert(nb::module_& module) {
  module.def(
      "convert",
      [](const std::optional<FilePath>& path, const nb::bytes& text, const std::string& to,
         const std::optional<std::string>& format, const std::optional<std::string>& delimiter,
         bool header, bool skip, const std::optional<std::string>& keep, uint64_t first,
         uint64_t end, const std::vector<std::string>& where, const std::optional<FilePath>& output,
         const nb::object& write, bool replace, const std::vector<FilePath>& inputs) {
        SourceOptions options = options_of({.to = to,
                                            .format = format,
                                            .delimiter = delimiter,
                                            .header = header,
                                            .skip = skip,
                                            .keep = keep});
        options.rows.first = first;
        options.rows.end = end;
        for (const std::string& each : where) {
          options.rows.where.push_back(value(parse_condition(each)));
        }
        std::string note;
        options.note = [&note](const std::string& what) { note = what; };
        const auto [records, skipped] =
            convert(path, text, options, output, write, replace, inputs);
        warn_of_note(note);
        return nb::make_tuple(records, skipped);
      },
      "path"_a.none(), "text"_a, "to"_a, "format"_a.none(), "delimiter"_a.none(), "header"_a,
      "skip"_a, "keep"_a.none(), "first"_a, "end"_a, "where"_a, "output"_a.none(), "write"_a.none(),
      "replace"_a, "inputs"_a);
}

}  // namespace hoist::python
