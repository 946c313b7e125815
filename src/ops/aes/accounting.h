// What the provider tells about itself, and whether it may do anything at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hoist::aes {

// Whether operation `aes` is on: HOIST, HOIST_OPS and the note of --verify. Read once.
bool is_enabled();

// Counters, where `hoist run` reads them; else nothing is done. Of calls that are large enough to
// be ours: those that we did, on several cores or on one, and those that the default provider did,
// and why.
enum class Cores { one, several };
void count_call(Cores cores, size_t bytes, uint64_t nanoseconds);
void count_passed(std::string_view reason);
// Nanoseconds of a steady clock; 0 where nobody counts.
uint64_t now_if_counting();

// --verify=RATE: whether this call is in the sample, and what came of it. A difference switches the
// operation off, here and in every later process.
bool is_drawn_for_verification();
void report_verified(bool same, std::string_view algorithm);

}  // namespace hoist::aes
