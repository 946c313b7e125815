// Columns in a device's memory by Arrow's C device interface: one struct array, whose buffers lie
// on the device. Validity and booleans become bits there; texts of a dictionary are sent.
#include <algorithm>

#include "python/arrow_owned.h"
#include "python/dlpack.h"
#include "python/errors.h"
#include "python/records_arrow.h"
#include "python/records_device.h"
#include "records/gpu/decode.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

using namespace records;

// What keeps the buffers of a column.
struct KeptBuffers {
  std::shared_ptr<const DeviceTable> table;
  std::vector<device::Buffer> more;
};
using OwnedArray = ArrowOwned<ArrowArray, KeptBuffers>;

std::string format_of(const DeviceColumnType& column) {
  switch (column.wanted.type) {
    case DeviceType::float64:
      return "g";
    case DeviceType::float32:
      return "f";
    case DeviceType::decimal:
      return "d:18," + std::to_string(column.wanted.digits) + ",64";
    case DeviceType::codes:
      return "i";
    default:
      return arrow_format(column.type);
  }
}

void make_schema(const DeviceTable& table, ArrowSchema* out) {
  std::vector<ArrowSchema> columns(table.columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    const DeviceColumnType& column = table.columns[i].type;
    std::optional<ArrowSchema> dictionary;
    if (column.wanted.type == DeviceType::codes) {
      make_arrow_schema("U", "", false, {}, &dictionary.emplace());
    }
    make_arrow_schema(format_of(column), column.type.name, column.wanted.nullable, {}, &columns[i],
                      dictionary);
  }
  make_arrow_schema("+s", "", false, std::move(columns), out);
}

class ArrayMaker {
 public:
  ArrayMaker(std::shared_ptr<const DeviceTable> table, device::Stream& stream)
      : table_(std::move(table)), stream_(stream) {}

  Status make(ArrowArray* out) {
    auto owned = std::make_unique<OwnedArray>();
    owned->children.resize(table_->columns.size());
    for (size_t i = 0; i < table_->columns.size(); ++i) {
      if (Status s = make_column(table_->columns[i], &owned->children[i]); !s) {
        for (ArrowArray& child : owned->children) {
          if (child.release != nullptr) child.release(&child);
        }
        return s;
      }
    }
    if (Status done = stream_.synchronize(); !done) return done;
    owned->buffers.push_back(nullptr);
    finish(std::move(owned), table_->rows, 0, out);
    return {};
  }

 private:
  void finish(std::unique_ptr<OwnedArray> owned, uint64_t length, int64_t nulls, ArrowArray* out) {
    *out = {};
    out->length = static_cast<int64_t>(length);
    out->null_count = nulls;
    out->n_buffers = static_cast<int64_t>(owned->buffers.size());
    out->buffers = owned->buffers.data();
    finish_arrow(std::move(owned), out);
  }

  Status add_bits(const void* flags, OwnedArray& owned) {
    const uint64_t words = (table_->rows + 31) / 32;
    Result<device::Buffer> bits =
        device::Buffer::allocate(*table_->device, std::max<uint64_t>(words, 16) * 4);
    if (!bits) return bits.error();
    owned.buffers.push_back(bits->data());
    const Status status = pack_bits(stream_, static_cast<const uint8_t*>(flags), table_->rows,
                                    static_cast<uint32_t*>(bits->data()));
    owned.kept->more.push_back(std::move(*bits));
    return status;
  }

  Status add_copy(std::span<const std::byte> bytes, OwnedArray& owned) {
    Result<device::Buffer> sent =
        device::Buffer::allocate(*table_->device, std::max<size_t>(bytes.size(), 64));
    if (!sent) return sent.error();
    if (Status s = sent->upload(bytes); !s) return s;
    owned.buffers.push_back(sent->data());
    owned.kept->more.push_back(std::move(*sent));
    return {};
  }

  Status make_dictionary(const std::vector<std::string>& texts, ArrowArray* out) {
    auto owned = std::make_unique<OwnedArray>();
    owned->kept.emplace();
    std::vector<int64_t> offsets = {0};
    std::string bytes;
    for (const std::string& text : texts) {
      bytes += text;
      offsets.push_back(static_cast<int64_t>(bytes.size()));
    }
    owned->buffers.push_back(nullptr);
    if (Status s = add_copy(std::as_bytes(std::span(offsets)), *owned); !s) return s;
    if (Status s = add_copy(std::as_bytes(std::span(bytes)), *owned); !s) return s;
    finish(std::move(owned), texts.size(), 0, out);
    return {};
  }

  Status make_column(const LoadedColumn& column, ArrowArray* out) {
    auto owned = std::make_unique<OwnedArray>();
    owned->kept.emplace().table = table_;
    if (column.column.valid == nullptr) {
      owned->buffers.push_back(nullptr);
    } else if (Status s = add_bits(column.column.valid, *owned); !s) {
      return s;
    }
    if (column.type.wanted.type == DeviceType::boolean) {
      if (Status s = add_bits(column.column.values, *owned); !s) return s;
    } else {
      owned->buffers.push_back(column.column.values);
    }
    if (column.type.wanted.type == DeviceType::codes) {
      ArrowArray dictionary;
      if (Status s = make_dictionary(column.dictionary, &dictionary); !s) return s;
      owned->dictionary = dictionary;
    }
    finish(std::move(owned), table_->rows, column.column.valid == nullptr ? 0 : -1, out);
    return {};
  }

  std::shared_ptr<const DeviceTable> table_;
  device::Stream& stream_;
};

// Takes a structure that has a `release`, or whose `array` has one.
template <typename T, typename Release>
nb::capsule capsule_of(std::unique_ptr<T> made, const char* name, Release release) {
  nb::capsule capsule(made.get(), name, release);
  (void)made.release();
  return capsule;
}

}  // namespace

nb::tuple arrow_device_array(std::shared_ptr<const DeviceTable> table) {
  auto array = std::make_unique<ArrowDeviceArray>();
  const device::DeviceProperties& device = table->device->properties();
  const bool cuda = device.kind == device::DeviceKind::cuda;
  array->device_type = cuda ? kDlpackCuda : kDlpackCpu;
  array->device_id = cuda ? device.index : -1;
  {
    device::Stream stream = value(device::Stream::create(*table->device));
    check(ArrayMaker(table, stream).make(&array->array));
  }
  auto schema = std::make_unique<ArrowSchema>();
  make_schema(*table, schema.get());
  return nb::make_tuple(capsule_of(std::move(schema), "arrow_schema",
                                   [](void* it) noexcept {
                                     auto* const made = static_cast<ArrowSchema*>(it);
                                     if (made->release != nullptr)
                                       made->release(made);  // nobody took it
                                     delete made;
                                   }),
                        capsule_of(std::move(array), "arrow_device_array", [](void* it) noexcept {
                          auto* const made = static_cast<ArrowDeviceArray*>(it);
                          if (made->array.release != nullptr) made->array.release(&made->array);
                          delete made;
                        }));
}

}  // namespace hoist::python
