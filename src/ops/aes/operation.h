// AES as an operation of placement: `hoist tune` measures what a GPU would take, `hoist explain
// aes` shows it beside the CPUs, by which programs' calls are answered whatever is chosen here.
#pragma once

#include "device/device.h"
#include "placement/operation.h"

namespace hoist::aes {

// Variants "ctr-128" and "ctr-256". Implementations "cpu-1" and "cpu-all", which are OpenSSL, and
// "cuda": plaintext from the host's memory to a GPU's, the cipher there, and ciphertext back.
// Measuring is `unavailable` without a GPU.
placement::Operation operation();

// The work of all on random bytes under a key of `key_bytes`, with `device` in place of the GPU; a
// run is `internal` where its ciphertext is not OpenSSL's. Bytes are rounded up to blocks.
Result<placement::Run> prepare_on(device::Device& device, size_t key_bytes, uint64_t bytes);

}  // namespace hoist::aes
