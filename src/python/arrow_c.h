// The structures of Arrow's C data, device and stream interfaces, as they lay them down
// (https://arrow.apache.org/docs/format/CDataInterface.html, CDeviceDataInterface.html,
// CStreamInterface.html).
#pragma once

#include <cstdint>

namespace hoist::python {

inline constexpr int64_t kArrowNullable = 2;

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowDeviceArray {
  ArrowArray array;
  int64_t device_id;
  int32_t device_type;  // as in DLPack
  void* sync_event;     // null: all is there
  int64_t reserved[3];
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

}  // namespace hoist::python
