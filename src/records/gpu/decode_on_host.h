// The jobs of records/gpu/jobs.h in host code: what kernels do, one value after the other.
#pragma once

#include "records/gpu/jobs.h"

namespace hoist::records {

void decode_symbols_on_host(const SymbolJob& job, uint32_t* flags);
void decode_sequence_on_host(const SequenceJob& job, uint32_t* flags);
void count_kept_on_host(const uint8_t* kept, uint64_t count, uint64_t* ranks);
void gather_kept_on_host(const uint8_t* kept, uint64_t count, const void* from, unsigned bytes,
                         void* to);

}  // namespace hoist::records
