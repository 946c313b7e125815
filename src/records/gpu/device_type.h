// The types of columns in a device's memory.
#pragma once

#include <cstdint>

#include "records/gpu/jobs.h"

namespace hoist::records {

enum class DeviceType : uint8_t {
  int64,
  float64,
  float32,    // the float64 rounded
  decimal,    // int64: units of the last of `digits` places
  timestamp,  // int64: units of so many digits of a second
  boolean,    // uint8
  codes       // int32: of a dictionary that all blocks share
};
Element element_of(DeviceType type);
// What a row without a value gets: the bits of an int64 or a double.
uint64_t missing_of(DeviceType type);

}  // namespace hoist::records
