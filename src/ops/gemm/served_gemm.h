// gemm as one of hoistd's operations: the request's ranges are A, B (where the routine has one) and
// C. C is packed (leading dimension = rows), and so are a batch's A and B, item behind item; those
// of a single product go from their first element to their last. A request without ranges and
// arguments asks whether products are done at once (first_products.h); `unavailable`: not yet.
#pragma once

#include "device/remote/served_operation.h"
#include "ops/gemm/call.h"
#include "ops/gemm/first_products.h"

namespace hoist::gemm {

class ServedGemm : public device::remote::ServedOperation {
 public:
  ServedGemm();
  Status validate(const device::remote::ServedCall& call) const override;
  Status run(const device::remote::ServedCall& call) const override;

 private:
  mutable FirstProducts first_products_;
};

// Asks the daemon for the call, whose pointers are memory of `device`, in these shapes.
Status request(device::Device& device, device::StreamHandle stream, const hoist_blas_call& call);

// Whether the daemon does products at once; asking makes it ready. A daemon that does not know the
// question does them when it is asked to.
bool ask_ready(device::Device& device);

}  // namespace hoist::gemm
