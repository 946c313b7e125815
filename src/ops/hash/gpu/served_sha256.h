// SHA-256 of many messages as one of hoistd's operations (sha256_request.h). The offsets are the
// client's and may change at any moment: the kernel lets none lead outside the data.
#pragma once

#include "device/remote/served_operation.h"

namespace hoist::hash {

class ServedSha256 : public device::remote::ServedOperation {
 public:
  ServedSha256();
  Status validate(const device::remote::ServedCall& call) const override;
  Status run(const device::remote::ServedCall& call) const override;
};

}  // namespace hoist::hash
