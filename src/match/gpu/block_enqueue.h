// Puts the search for blocks on a stream: as a kernel on a CUDA device, as plain loops over the
// same code on the CPU device (scan_enqueue.h).
#pragma once

#include "device/stream.h"
#include "match/gpu/block_job.h"

namespace hoist::match {

// What the job points to must live until the stream is done with it.
Status enqueue(device::Stream& stream, const BlockJob& job);

}  // namespace hoist::match
