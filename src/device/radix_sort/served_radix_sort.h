// Radix sort as one of hoistd's operations: the request's ranges are the elements and as much
// scratch memory.
#pragma once

#include "device/radix_sort/radix_sort.h"
#include "device/remote/served_operation.h"

namespace hoist::device::radix_sort {

class ServedRadixSort : public remote::ServedOperation {
 public:
  ServedRadixSort();
  Status validate(const remote::ServedCall& call) const override;
  Status run(const remote::ServedCall& call) const override;
};

// Asks the daemon for the call, whose memory is `device`'s.
Status request(Device& device, StreamHandle stream, const Call& call);

}  // namespace hoist::device::radix_sort
