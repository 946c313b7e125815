#include "records/gpu/device_type.h"

namespace hoist::records {

Element element_of(DeviceType type) {
  switch (type) {
    case DeviceType::float64:
      return Element::float64;
    case DeviceType::float32:
      return Element::float32;
    case DeviceType::boolean:
      return Element::uint8;
    case DeviceType::codes:
      return Element::int32;
    default:
      return Element::int64;
  }
}

uint64_t missing_of(DeviceType type) {
  switch (type) {
    case DeviceType::float64:
    case DeviceType::float32:
      return 0x7ff8000000000000;  // what std::numeric_limits has
    case DeviceType::timestamp:
      return uint64_t{1} << 63;  // NumPy's NaT
    case DeviceType::codes:
      return ~uint64_t{0};
    default:
      return 0;
  }
}

}  // namespace hoist::records
