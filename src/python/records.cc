// hoist._records: files of records for hoist.records, which makes arrays of what is read here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/output_file.h"
#include "python/errors.h"
#include "python/interruptible.h"
#include "python/main_interpreter.h"
#include "python/records_arrow.h"
#include "python/records_convert.h"
#include "python/records_device.h"
#include "python/records_encode.h"
#include "python/released_gil.h"
#include "python/tensors_path.h"
#include "records/file_state.h"
#include "records/reader.h"
#include "records/typed/typed_values.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

using records::RecordReader;
using namespace records::typed;

template <typename T>
nb::object array_of(std::vector<T> values) {
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = owner->data();
  const size_t size = owner->size();
  const nb::capsule free(owner.get(),
                         [](void* it) noexcept { delete static_cast<std::vector<T>*>(it); });
  (void)owner.release();
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, free));
}

// str, and None for what is missing. Texts that follow one another share their object.
nb::list texts_of(const ColumnChunk& chunk) {
  nb::list texts;
  std::string_view last;
  nb::object object;
  for (size_t i = 0; i < chunk.valid.size(); ++i) {
    check_signals(i);
    if (chunk.valid[i] == 0) {
      texts.append(nb::none());
      continue;
    }
    const std::string_view text(chunk.bytes.data() + chunk.offsets[i],
                                static_cast<size_t>(chunk.offsets[i + 1] - chunk.offsets[i]));
    if (!object.is_valid() || text != last) object = nb::str(text.data(), text.size());
    last = text;
    texts.append(object);
  }
  return texts;
}

// (values, which are valid, None or where lists begin, None or which lists are valid)
nb::tuple column_of(ColumnChunk chunk, const ColumnType& type) {
  nb::object values;
  if (type.kind == ValueKind::text) {
    values = texts_of(chunk);
  } else if (type.kind == ValueKind::real) {
    values = array_of(std::move(chunk.reals));
  } else {
    values = array_of(std::move(chunk.integers));
  }
  nb::object valid = array_of(std::move(chunk.valid));
  if (!type.is_list) return nb::make_tuple(values, valid, nb::none(), nb::none());
  return nb::make_tuple(values, valid, array_of(std::move(chunk.lists)),
                        array_of(std::move(chunk.list_valid)));
}

std::vector<records::Condition> conditions(const std::vector<std::string>& texts) {
  std::vector<records::Condition> found;
  for (const std::string& text : texts) found.push_back(value(records::parse_condition(text)));
  return found;
}

class Reader {
 public:
  explicit Reader(RecordReader reader)
      : reader_(std::make_shared<const RecordReader>(std::move(reader))) {}

  const RecordReader& records() const { return *reader_; }

  // (name, kind, digits of the unit, in UTC, is a list, nullable, values, bytes of text, stored)
  nb::list types() {
    nb::list list;
    for (const ColumnType& type : read_types()) {
      constexpr const char* kKinds[] = {"bool", "int64", "float64", "timestamp", "text"};
      list.append(nb::make_tuple(type.name, kKinds[static_cast<size_t>(type.kind)], type.fraction,
                                 type.is_utc, type.is_list, type.nullable, type.values,
                                 type.text_bytes, type.stored_bytes));
    }
    return list;
  }

  // (first row, end) of each block.
  nb::list blocks() const {
    nb::list list;
    const std::span<const container::Block> blocks = reader_->blocks();
    for (size_t i = 0; i < blocks.size(); ++i) {
      list.append(
          nb::make_tuple(blocks[i].id, i + 1 < blocks.size() ? blocks[i + 1].id : reader_->rows()));
    }
    return list;
  }

  // A tuple of column_of() for each column.
  nb::list read(const std::vector<size_t>& columns, uint64_t first, uint64_t end,
                const std::vector<std::string>& where) {
    const Selection wanted = selection(columns, first, end, where);
    std::vector<ColumnChunk> whole = value(interruptible(
        true, [&](const std::stop_token& stop) { return read_blocks(wanted, stop); }));
    nb::list list;
    for (size_t i = 0; i < whole.size(); ++i) {
      list.append(column_of(std::move(whole[i]), wanted.columns[i]));
    }
    return list;
  }

  // `as`: for each column its type on the device, or nothing.
  std::shared_ptr<DeviceTable> load(const std::vector<size_t>& columns,
                                    const std::vector<std::string>& as, uint64_t first,
                                    uint64_t end, const std::vector<std::string>& where,
                                    const std::string& device) {
    const Selection wanted = selection(columns, first, end, where);
    std::vector<DeviceColumnType> types;
    for (size_t i = 0; i < columns.size(); ++i) {
      types.push_back(value(device_column(wanted.columns[i], as.at(i))));
    }
    return value(interruptible(true, [&](const std::stop_token& stop) {
      return load_table(*reader_, wanted, types, device, stop);
    }));
  }

  nb::capsule arrow_stream(const std::vector<size_t>& columns, uint64_t first, uint64_t end,
                           const std::vector<std::string>& where, bool exact) {
    auto stream = std::make_unique<ArrowArrayStream>();
    make_arrow_stream(reader_, selection(columns, first, end, where, exact), stream.get());
    nb::capsule capsule(stream.get(), "arrow_array_stream", [](void* it) noexcept {
      auto* const made = static_cast<ArrowArrayStream*>(it);
      if (made->release != nullptr) made->release(made);  // nobody took it
      delete made;
    });
    (void)stream.release();
    return capsule;
  }

  // Calls write(bytes) for each piece.
  void text(uint64_t first, uint64_t end, const std::vector<std::string>& where,
            const nb::object& write) const {
    Callback callback(write);
    const auto take = [&](std::string_view piece) {
      return callback.call(
          [&](const nb::object& function) { function(nb::bytes(piece.data(), piece.size())); });
    };
    const records::ReadOptions options = {.first = first, .end = end, .where = conditions(where)};
    const Status status = [&] {
      const ReleasedGil released;
      return reader_->text(options, take);
    }();
    callback.check_raised();
    check(status);
  }

  void save_text(const FilePath& path, uint64_t first, uint64_t end,
                 const std::vector<std::string>& where, bool replace) const {
    const records::ReadOptions options = {.first = first, .end = end, .where = conditions(where)};
    check(interruptible(true, [&](const std::stop_token& stop) -> Status {
      Result<OutputFile> file =
          OutputFile::create(path.text, records_rule(replace, {reader_->name()}));
      if (!file) return file.error();
      const Status written = reader_->text(options, [&](std::string_view piece) -> Status {
        if (stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped");
        return write_full(file->fd(), piece.data(), piece.size(), path.text);
      });
      return written ? file->publish() : written;
    }));
  }

 private:
  const std::vector<ColumnType>& read_types(bool exact = false) {
    std::optional<std::vector<ColumnType>>& known = exact ? exact_types_ : types_;
    if (!known) {
      std::vector<ColumnType> types = value(interruptible(true, [&](const std::stop_token& stop) {
        return column_types(*reader_, stop, {.exact = exact});
      }));
      if (!known) known = std::move(types);  // another thread may have been here meanwhile
    }
    return *known;
  }

  Selection selection(const std::vector<size_t>& columns, uint64_t first, uint64_t end,
                      const std::vector<std::string>& where, bool exact = false) {
    Selection wanted = {.columns = {}, .first = first, .end = end, .where = conditions(where)};
    check([&] {
      const ReleasedGil released;
      return reader_->check_columns(wanted.where);
    }());
    const std::vector<ColumnType>& types = read_types(exact);
    for (const size_t column : columns) {
      if (column >= types.size()) raise({ErrorCode::invalid_argument, "no such column"});
      wanted.columns.push_back(types[column]);
    }
    return wanted;
  }

  // Blocks are decoded side by side, some at a time.
  Result<std::vector<ColumnChunk>> read_blocks(const Selection& wanted,
                                               const std::stop_token& stop) const {
    ThreadPool& pool = ThreadPool::process();
    const std::vector<size_t> blocks = blocks_of(*reader_, wanted);
    std::vector<ColumnChunk> whole(wanted.columns.size());
    const auto batch = static_cast<size_t>(pool.size());
    for (size_t at = 0; at < blocks.size(); at += batch) {
      if (stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped");
      const size_t count = std::min(batch, blocks.size() - at);
      std::vector<Result<SelectedBlock>> found(count, SelectedBlock());
      pool.parallel_for(count,
                        [&](size_t i) { found[i] = read_block(*reader_, blocks[at + i], wanted); });
      for (const Result<SelectedBlock>& block : found) {
        if (!block) return block.error();
        for (size_t c = 0; c < whole.size(); ++c) append(whole[c], block->columns[c]);
      }
    }
    return whole;
  }

  std::shared_ptr<const RecordReader> reader_;
  std::optional<std::vector<ColumnType>> types_;
  std::optional<std::vector<ColumnType>> exact_types_;
};

std::unique_ptr<Reader> open_reader(const FilePath& path, bool partial) {
  Result<RecordReader> reader = [&] {
    const ReleasedGil released;
    return RecordReader::open(path.text, {.partial = partial});
  }();
  return std::make_unique<Reader>(value(std::move(reader)));
}

}  // namespace
}  // namespace hoist::python

NB_MODULE(_records, module) {
  using namespace hoist::python;
  refuse_subinterpreters("hoist");
  nb::set_leak_warnings(false);
  watch_interpreters_end();
  define_records_convert(module);
  define_records_encode(module);
  define_device_table(module);
  nb::class_<Reader>(module, "Reader")
      .def(nb::new_(&open_reader), "path"_a, "partial"_a = false)
      .def_prop_ro("rows", [](const Reader& reader) { return reader.records().rows(); })
      .def_prop_ro("text_bytes", [](const Reader& reader) { return reader.records().text_bytes(); })
      .def_prop_ro("file_size", [](const Reader& reader) { return reader.records().file_size(); })
      .def_prop_ro("format",
                   [](const Reader& reader) {
                     return std::string(hoist::records::name(reader.records().dialect().format));
                   })
      .def_prop_ro("state",
                   [](const Reader& reader) {
                     return std::string(hoist::records::state_name(reader.records()));
                   })
      .def_prop_ro("unfinished_bytes",
                   [](const Reader& reader) { return reader.records().unfinished_bytes(); })
      .def_prop_ro(
          "warning",
          [](const Reader& reader) { return hoist::records::state_warning(reader.records()); })
      .def("types", &Reader::types)
      .def("blocks", &Reader::blocks)
      .def("read", &Reader::read, "columns"_a, "first"_a, "end"_a, "where"_a)
      .def("load", &Reader::load, "columns"_a, "types"_a, "first"_a, "end"_a, "where"_a, "device"_a)
      .def("arrow_stream", &Reader::arrow_stream, "columns"_a, "first"_a, "end"_a, "where"_a,
           "exact"_a)
      .def("text", &Reader::text, "first"_a, "end"_a, "where"_a, "write"_a)
      .def("save_text", &Reader::save_text, "path"_a, "first"_a, "end"_a, "where"_a, "replace"_a);
}
