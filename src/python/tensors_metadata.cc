#include "python/tensors_metadata.h"

#include <cstring>

#include "python/errors.h"
#include "tensors/model/metadata.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

using namespace tensors;

nb::object text_object(const std::string& text) {
  nb::object made =
      nb::steal(PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "surrogateescape"));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

template <typename T>
T load(const MetadataValue& value, uint64_t index) {
  T number;
  std::memcpy(&number, value.bytes.data() + index * sizeof number, sizeof number);
  return number;
}

nb::object number_object(const MetadataValue& value, uint64_t index) {
  switch (value.kind) {
    case MetadataKind::u8:
      return nb::int_(load<uint8_t>(value, index));
    case MetadataKind::i8:
      return nb::int_(load<int8_t>(value, index));
    case MetadataKind::u16:
      return nb::int_(load<uint16_t>(value, index));
    case MetadataKind::i16:
      return nb::int_(load<int16_t>(value, index));
    case MetadataKind::u32:
      return nb::int_(load<uint32_t>(value, index));
    case MetadataKind::i32:
      return nb::int_(load<int32_t>(value, index));
    case MetadataKind::f32:
      return nb::float_(load<float>(value, index));
    case MetadataKind::boolean:
      return nb::bool_(load<uint8_t>(value, index) != 0);
    case MetadataKind::i64:
      return nb::int_(load<int64_t>(value, index));
    case MetadataKind::f64:
      return nb::float_(load<double>(value, index));
    default:
      return nb::int_(load<uint64_t>(value, index));
  }
}

nb::object value_object(const MetadataValue& value) {
  if (!value.is_array) {
    return value.kind == MetadataKind::text ? text_object(value.bytes) : number_object(value, 0);
  }
  nb::list list;
  for (const std::string& text : value.texts) list.append(text_object(text));
  for (const MetadataValue& array : value.arrays) list.append(value_object(array));
  if (metadata_bytes(value.kind) != 0) {
    for (uint64_t i = 0; i < value.count; ++i) list.append(number_object(value, i));
  }
  return list;
}

}  // namespace

nb::list metadata_pairs(ModelFormat format, const container::Source& source) {
  const std::vector<MetadataPair> pairs = value(read_metadata(format, source));
  nb::list list;
  for (const MetadataPair& pair : pairs) {
    list.append(nb::make_tuple(text_object(pair.key), value_object(pair.value)));
  }
  return list;
}

}  // namespace hoist::python
