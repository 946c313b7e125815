// Puts scans on a stream: as kernels on a CUDA device, as plain loops over the same code on the CPU
// device, which is how tests compare them with the oracle where there is no GPU.
#pragma once

#include "device/stream.h"
#include "match/gpu/scan_job.h"

namespace hoist::match {

// What the jobs point to must live until the stream is done with them.
Status enqueue(device::Stream& stream, const TileScanJob& job);
Status enqueue(device::Stream& stream, const SequenceScanJob& job);

}  // namespace hoist::match
