#include "python/records_device.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>

#include "base/per_process.h"
#include "python/records_meaning.h"
#include "records/gpu/decode.h"
#include "records/typed/scalars.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

using namespace records;

constexpr const char* kNames[] = {"int64",     "float64", "float32", "decimal",
                                  "timestamp", "bool",    "codes"};

// One idle loader a device is kept, with its pinned memory; a child after fork() begins with none.
struct Idle {
  std::mutex mutex;
  std::map<device::Device*, std::unique_ptr<ColumnLoader>> loaders;
};
constinit PerProcess<Idle> idle;

class KeptColumnLoader {
 public:
  explicit KeptColumnLoader(device::Device& device) : process_(::getpid()) {
    {
      Idle& from = idle.get();
      const std::lock_guard lock(from.mutex);
      loader_ = std::exchange(from.loaders[&device], nullptr);
    }
    if (loader_ == nullptr) loader_ = std::make_unique<ColumnLoader>(device);
  }
  ~KeptColumnLoader() {
    if (process_ != ::getpid()) {
      (void)loader_.release();  // the parent's
      return;
    }
    Idle& to = idle.get();
    const std::lock_guard lock(to.mutex);
    std::unique_ptr<ColumnLoader>& kept = to.loaders[&loader_->device()];
    if (kept == nullptr) kept = std::move(loader_);
  }
  KeptColumnLoader(const KeptColumnLoader&) = delete;
  KeptColumnLoader& operator=(const KeptColumnLoader&) = delete;
  ColumnLoader* operator->() const { return loader_.get(); }

 private:
  const pid_t process_;
  std::unique_ptr<ColumnLoader> loader_;
};

std::vector<BlockRows> rows_of(const RecordReader& reader, const Selection& selection) {
  std::vector<BlockRows> rows;
  const uint64_t header = header_rows(reader);
  for (const size_t b : blocks_of(reader, selection)) {
    const uint64_t id = reader.blocks()[b].id;
    const uint64_t next =
        b + 1 < reader.blocks().size() ? reader.blocks()[b + 1].id : reader.rows();
    const uint64_t first = std::max({selection.first, id, header});
    const uint64_t end = std::min(selection.end, next);
    if (first >= end) continue;
    rows.push_back({b, static_cast<uint32_t>(first - id), static_cast<uint32_t>(end - id)});
  }
  return rows;
}

// Codes in the order in which texts came become those of sorted texts.
Status sort_codes(LoadedColumn& column, uint64_t rows, std::vector<std::string> texts) {
  std::vector<uint32_t> order(texts.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return texts[a] < texts[b]; });
  std::vector<int32_t> numbers(texts.size());
  for (size_t i = 0; i < order.size(); ++i) {
    numbers[order[i]] = static_cast<int32_t>(i);
    column.dictionary.push_back(std::move(texts[order[i]]));
  }
  if (std::is_sorted(numbers.begin(), numbers.end())) return {};
  device::Device& device = *column.memory->device();
  Result<device::Stream> stream = device::Stream::create(device);
  if (!stream) return stream.error();
  const Result<device::Buffer> sent =
      device::Buffer::copy_of(device, std::as_bytes(std::span(numbers)));
  if (!sent) return sent.error();
  const Status status = renumber_codes(*stream, reinterpret_cast<int32_t*>(column.column.values),
                                       rows, static_cast<const int32_t*>(sent->data()),
                                       static_cast<uint32_t>(numbers.size()));
  return status ? stream->synchronize() : status;
}

void add(LoadStatistics& to, const LoadStatistics& more) {
  to.blocks += more.blocks;
  to.skipped += more.skipped;
  to.conditions_on_cpu += more.conditions_on_cpu;
  to.stored_bytes += more.stored_bytes;
  to.copied_bytes += more.copied_bytes;
  to.prepare_seconds += more.prepare_seconds;
  to.wait_seconds += more.wait_seconds;
}

template <typename T>
nb::object array_of(const LoadedColumn& column, const void* data, uint64_t rows) {
  using Memory = std::shared_ptr<device::Buffer>;
  const device::DeviceProperties& device = column.memory->device()->properties();
  const nb::capsule owner(new Memory(column.memory),
                          [](void* it) noexcept { delete static_cast<Memory*>(it); });
  const bool cuda = device.kind == device::DeviceKind::cuda;
  const size_t size = rows;
  using Array = nb::ndarray<nb::array_api, T, nb::ndim<1>>;
  return nb::cast(Array(const_cast<void*>(data), 1, &size, owner, nullptr, nb::dtype<T>(),
                        cuda ? nb::device::cuda::value : nb::device::cpu::value,
                        cuda ? device.index : 0));
}

nb::object values_of(const LoadedColumn& column, uint64_t rows) {
  const void* const data = column.column.values;
  switch (column.type.wanted.type) {
    case DeviceType::float64:
      return array_of<double>(column, data, rows);
    case DeviceType::float32:
      return array_of<float>(column, data, rows);
    case DeviceType::boolean:
      return array_of<bool>(column, data, rows);
    case DeviceType::codes:
      return array_of<int32_t>(column, data, rows);
    default:
      return array_of<int64_t>(column, data, rows);
  }
}

nb::object text_of(const std::string& text) { return nb::str(text.data(), text.size()); }

// (values, valid or None, what they are, digits, in UTC, dictionary or None, blocks by the CPU)
nb::list columns_of(const DeviceTable& table) {
  nb::list list;
  for (const LoadedColumn& column : table.columns) {
    nb::object valid = nb::none();
    if (column.column.valid != nullptr) {
      valid = array_of<bool>(column, column.column.valid, table.rows);
    }
    nb::object dictionary = nb::none();
    if (column.type.wanted.type == DeviceType::codes) {
      nb::list texts;
      for (const std::string& text : column.dictionary) texts.append(text_of(text));
      dictionary = texts;
    }
    list.append(nb::make_tuple(values_of(column, table.rows), valid, name(column.type.wanted.type),
                               column.type.wanted.digits, column.type.type.is_utc, dictionary,
                               column.column.on_cpu));
  }
  return list;
}

}  // namespace

const char* name(DeviceType type) { return kNames[static_cast<size_t>(type)]; }

Result<DeviceColumnType> device_column(const ColumnType& type, const std::string& as) {
  const auto wrong = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, "column " + type.name + " " + why);
  };
  if (type.is_list) return wrong("has lists, which stay in the host's memory");
  constexpr DeviceType kOwn[] = {DeviceType::boolean,   DeviceType::int64, DeviceType::float64,
                                 DeviceType::timestamp, DeviceType::codes, DeviceType::decimal};
  const DeviceType own = kOwn[static_cast<size_t>(type.kind)];
  DeviceType wanted = own;
  if (!as.empty()) {
    const auto found = std::find(std::begin(kNames), std::end(kNames), as);
    if (found == std::end(kNames)) return wrong("as " + as + ": there is no such type");
    wanted = static_cast<DeviceType>(found - std::begin(kNames));
  }
  const bool is_number = own == DeviceType::int64 || own == DeviceType::float64;
  const bool is_float = wanted == DeviceType::float64 || wanted == DeviceType::float32;
  const bool is_decimal = wanted == DeviceType::decimal;
  if (wanted != own && !(is_number && (is_float || is_decimal))) {
    return wrong("is " + std::string(name(own)) + ", not " + as);
  }
  if (is_decimal && type.places > kMaxScale) {
    return wrong("has numbers that are no decimals of 18 places: ask for float64");
  }
  const uint8_t digits = is_decimal ? type.places : type.fraction;
  return DeviceColumnType{type, {type.path, wanted, digits, type.nullable}};
}

Result<std::shared_ptr<DeviceTable>> load_table(const RecordReader& reader,
                                                const Selection& selection,
                                                const std::vector<DeviceColumnType>& columns,
                                                const std::string& device_name,
                                                const std::stop_token& stop) {
  const Result<device::Device*> device = device::find_device(device_name);
  if (!device) return device.error();
  auto table = std::make_shared<DeviceTable>();
  table->device = *device;
  if (selection.where.size() >= kMostWanted) {
    return fail(ErrorCode::invalid_argument, "too many conditions");
  }
  const size_t most = kMostWanted - selection.where.size();
  KeptColumnLoader loader(**device);
  for (size_t at = 0; at == 0 || at < columns.size(); at += most) {
    const size_t count = std::min(most, columns.size() - at);
    const std::vector<DeviceColumnType> part(columns.begin() + static_cast<ptrdiff_t>(at),
                                             columns.begin() + static_cast<ptrdiff_t>(at + count));
    LoadRequest request;
    for (const DeviceColumnType& column : part) request.columns.push_back(column.wanted);
    request.blocks = rows_of(reader, selection);
    request.where = selection.where;
    request.stop = stop;
    RecordsMeaning meaning(part);
    Result<DeviceColumns> loaded = loader->load(reader, request, meaning);
    if (!loaded) return loaded.error();
    if (Status good = meaning.status(); !good) return good.error();
    table->rows = loaded->rows;
    add(table->statistics, loaded->statistics);
    for (size_t i = 0; i < count; ++i) {
      LoadedColumn column{part[i], loaded->columns[i], {}, loaded->memory};
      if (part[i].wanted.type == DeviceType::codes) {
        if (Status s = sort_codes(column, loaded->rows, meaning.texts(i)); !s) return s.error();
      }
      table->columns.push_back(std::move(column));
    }
  }
  return table;
}

void define_device_table(nb::module_& module) {
  using Table = std::shared_ptr<DeviceTable>;
  nb::class_<DeviceTable>(module, "DeviceTable")
      .def_prop_ro("rows", [](const DeviceTable& table) { return table.rows; })
      .def_prop_ro("device",
                   [](const DeviceTable& table) {
                     const device::DeviceProperties& device = table.device->properties();
                     if (device.kind != device::DeviceKind::cuda) return std::string("cpu");
                     return "cuda:" + std::to_string(device.index);
                   })
      .def_prop_ro("statistics",
                   [](const DeviceTable& table) {
                     const LoadStatistics& all = table.statistics;
                     return nb::make_tuple(all.blocks, all.skipped, all.conditions_on_cpu,
                                           all.stored_bytes, all.copied_bytes, all.prepare_seconds,
                                           all.wait_seconds);
                   })
      .def("columns", &columns_of)
      .def("arrow", [](const Table& table) { return arrow_device_array(table); });
}

}  // namespace hoist::python
