// gemm as one of hoistd's operations: the request's ranges are A, B (where the routine has one) and
// C. C is packed (leading dimension = rows), and so are a batch's A and B, item behind item; those
// of a single product go from their first element to their last.
#pragma once

#include "device/remote/remote_device.h"
#include "device/remote/served_operation.h"
#include "ops/gemm/call.h"

namespace hoist::gemm {

class ServedGemm : public device::remote::ServedOperation {
 public:
  ServedGemm();
  Status validate(const device::remote::ServedCall& call) const override;
  Status run(const device::remote::ServedCall& call) const override;
};

// Asks the daemon for the call, whose pointers are memory of `device`, in these shapes.
Status request(device::remote::RemoteDevice& device, device::StreamHandle stream,
               const hoist_blas_call& call);

}  // namespace hoist::gemm
