#include "python/records_encode.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "python/errors.h"
#include "python/tensors_path.h"
#include "records/writer.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

using records::RecordWriter;

constexpr const char* kMend = "pass replace=True to replace it, or choose another name";

records::Format format_of(const std::string& name) {
  for (uint8_t i = 0; i <= static_cast<uint8_t>(records::Format::log); ++i) {
    const auto format = static_cast<records::Format>(i);
    if (records::name(format) == name) return format;
  }
  raise({ErrorCode::invalid_argument,
         "no format " + name + ": json, csv, pairs, symbolic, log or plain"});
}

// (format, rows, bytes of text, bytes of the file)
nb::tuple encode(const nb::object& read, const FilePath& path,
                 const std::optional<std::string>& format, std::optional<bool> header, bool best,
                 int threads, bool replace, const std::vector<FilePath>& inputs) {
  if (threads < 0) raise({ErrorCode::invalid_argument, "threads are 0 (all) or more"});
  std::vector<std::string> names;
  for (const FilePath& input : inputs) names.push_back(input.text);
  std::optional<ThreadPool> pool;
  if (threads > 0) pool.emplace(threads);
  records::RecordOptions options;
  options.effort = best ? records::Effort::best : records::Effort::usual;
  if (format) options.format = format_of(*format);
  options.header = header;
  std::string note;
  options.note = [&note](const std::string& what) { note = what; };
  if (names.size() == 1) options.source = names[0];
  options.output = records_rule(replace, std::move(names));
  options.pool = pool ? &*pool : nullptr;
  Callback callback(read);
  const auto read_text = [&](std::span<char> into) -> Result<size_t> {
    size_t size = 0;
    const Status status = callback.call([&](const nb::object& function) {
      const nb::object piece = function(into.size());
      if (!PyBytes_Check(piece.ptr())) throw nb::type_error("read() gives bytes");
      const nb::bytes bytes = nb::borrow<nb::bytes>(piece);
      size = bytes.size();
      if (size > into.size()) throw nb::value_error("read() gave more than was asked for");
      std::copy_n(bytes.c_str(), size, into.data());
    });
    if (!status) return status.error();
    return size;
  };
  std::optional<RecordWriter> writer;
  const Status status = [&]() -> Status {
    const ReleasedGil released;
    Result<RecordWriter> created = RecordWriter::create(path.text, options);
    if (!created) return created.error();
    writer.emplace(std::move(*created));
    if (Status written = writer->write_all(read_text); !written) return written;
    return writer->finish();
  }();
  callback.check_raised();
  check(status);
  warn_of_note(note);
  const std::string kind(records::name(writer->dialect().format));
  return nb::make_tuple(kind, writer->rows(), writer->text_bytes(), writer->size());
}

}  // namespace

OutputRule records_rule(bool replace, std::vector<std::string> inputs) {
  return {.replace = replace ? Replace::any : Replace::never,
          .inputs = std::move(inputs),
          .mend = kMend};
}

void warn_of_note(const std::string& note) {
  if (note.empty()) return;
  if (PyErr_WarnEx(PyExc_UserWarning, note.c_str(), 2) != 0) throw nb::python_error();
}

void define_records_encode(nb::module_& module) {
  module.def("encode", &encode, "read"_a, "path"_a, "format"_a.none(), "header"_a.none(), "best"_a,
             "threads"_a, "replace"_a, "inputs"_a);
}

}  // namespace hoist::python
