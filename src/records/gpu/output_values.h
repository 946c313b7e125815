// What a row of a column is as a typed value (OutputJob), for kernels and for host code.
#pragma once

#include "records/gpu/jobs.h"

namespace hoist::records {

HOIST_HD constexpr uint64_t power_of_ten_u64(unsigned exponent) {
  uint64_t power = 1;
  for (unsigned i = 0; i < exponent; ++i) power *= 10;
  return power;
}

HOIST_HD inline double double_of_bits(uint64_t bits) {
  double value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
HOIST_HD inline uint64_t bits_of(double value) {
  uint64_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

// The double nearest to magnitude / 10^scale (scale at most 18); even ones where two are.
HOIST_HD inline double nearest_quotient(uint64_t magnitude, unsigned scale) {
  const uint64_t power = power_of_ten_u64(scale);
  if (magnitude <= uint64_t{1} << 53) {
    // Both are exact: the quotient is rounded once.
    return static_cast<double>(magnitude) / static_cast<double>(power);
  }
  // 64 bits of the quotient or more, of which the last is set where something is left over.
  const auto wide = static_cast<unsigned __int128>(magnitude) << 64;
  unsigned __int128 quotient = wide / power;
  bool rest = wide % power != 0;
  int exponent = -64;
  while (quotient >> 64 != 0) {
    rest |= (quotient & 1) != 0;
    quotient >>= 1;
    ++exponent;
  }
  // Rounded to 53 bits.
  uint64_t value = static_cast<uint64_t>(quotient);
  while (value >> 54 != 0) {
    rest |= (value & 1) != 0;
    value >>= 1;
    ++exponent;
  }
  const bool up = (value & 1) != 0 && (rest || (value & 2) != 0);
  value = (value >> 1) + (up ? 1 : 0);
  ++exponent;
  // No result is near the borders of exponents: 2^-8 to 2^64.
  const uint64_t factor = static_cast<uint64_t>(1023 + exponent) << 52;
  return static_cast<double>(value) * double_of_bits(factor);
}

HOIST_HD inline double real_of(int64_t value, unsigned scale) {
  const auto bits = static_cast<uint64_t>(value);
  if (value >= 0) return nearest_quotient(bits, scale);
  return -nearest_quotient(0 - bits, scale);
}

// False where 64 bits do not hold it.
HOIST_HD inline bool times(int64_t value, int64_t factor, int64_t& product) {
  const auto wide = static_cast<__int128>(value) * factor;
  product = static_cast<int64_t>(wide);
  return wide == product;
}
HOIST_HD inline bool minus(int64_t value, int64_t other, int64_t& difference) {
  const auto wide = static_cast<__int128>(value) - other;
  difference = static_cast<int64_t>(wide);
  return wide == difference;
}

// The exceptions before position `at` of a column, and whether it is one.
HOIST_HD inline uint32_t exceptions_before(const OutputJob& job, uint32_t at, bool& is_one) {
  uint32_t low = 0;
  uint32_t high = job.exception_count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (job.exceptions[middle] < at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  is_one = low < job.exception_count && job.exceptions[low] == at;
  return low;
}

// Row `row` (of the block) as the bits of an int64 or a double, by the rule.
HOIST_HD inline Answer output_of(const OutputJob& job, uint32_t row) {
  const uint32_t place = job.places == nullptr ? row : job.places[row];
  if (place == kNoPosition) return {job.missing, 0};
  if (job.rule == ValueRule::answer && job.values == nullptr) {
    return job.answers[job.by_row ? row : 0];
  }
  uint32_t number = place;
  if (job.exception_count > 0) {
    bool is_one = false;
    const uint32_t before = exceptions_before(job, place, is_one);
    if (is_one) return job.answers[before];
    number -= before;
  }
  const int64_t value = job.values[number];
  int64_t result = 0;
  switch (job.rule) {
    case ValueRule::integer:
      return {static_cast<uint64_t>(value), 1};
    case ValueRule::real:
      return {bits_of(real_of(value, job.scale)), 1};
    case ValueRule::scaled:
      if (!times(value, job.factor, result)) return {job.missing, 0};
      return {static_cast<uint64_t>(result), 1};
    case ValueRule::timestamp:
      if (!times(value, job.factor, result) || !minus(result, job.offset, result)) {
        return {job.missing, 0};
      }
      return {static_cast<uint64_t>(result), 1};
    case ValueRule::between:
      return {(job.least <= value && value <= job.most) != job.outside ? 1u : 0u, 1};
    case ValueRule::answer:
      break;
  }
  // Codes were checked when they were decoded.
  return job.answers[value];
}

// Writes entry i of the job, which is row first + i.
HOIST_HD inline void write_output(const OutputJob& job, uint32_t i) {
  Answer answer = output_of(job, job.first + i);
  if (answer.valid == 0) answer.bits = job.missing;
  if (job.valid != nullptr) job.valid[i] = answer.valid == 0 ? 0 : 1;
  switch (job.element) {
    case Element::float32:
      static_cast<float*>(job.out)[i] = static_cast<float>(double_of_bits(answer.bits));
      break;
    case Element::int32:
      static_cast<int32_t*>(job.out)[i] = static_cast<int32_t>(answer.bits);
      break;
    case Element::uint8: {
      auto& to = static_cast<uint8_t*>(job.out)[i];
      const auto value = static_cast<uint8_t>(answer.bits);
      to = job.both ? to & value : value;
      break;
    }
    default:
      static_cast<uint64_t*>(job.out)[i] = answer.bits;
  }
}

}  // namespace hoist::records
