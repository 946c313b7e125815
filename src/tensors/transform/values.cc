#include "tensors/transform/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "array/convert.h"
#include "tensors/transform/patches.h"
#include "tensors/transform/tasks.h"

namespace hoist::tensors {
namespace {

struct Chunk {
  uint64_t first = 0;
  uint64_t count = 0;
};

Chunk chunk_of(uint64_t elements, size_t i) {
  const uint64_t first = i * kChunkElements;
  return {first, std::min(kChunkElements, elements - first)};
}

template <typename T>
bool is_finite(T value) {
  return value - value == 0;
}

struct Extremes {
  double largest = 0;
  bool all_finite = true;
};

template <typename T>
Extremes extremes_of(std::span<const T> values) {
  T largest = 0;
  T spoilt = 0;  // NaN as soon as one value is not finite
  for (const T value : values) {
    spoilt += value - value;
    largest = std::max(largest, std::abs(is_finite(value) ? value : T{0}));
  }
  return {static_cast<double>(largest), spoilt == 0};
}

// One chunk of a tensor: f64 elements in double precision, others as floats in their place.
class Source {
 public:
  Source(const TensorView& tensor, std::span<float> values)
      : dtype_(tensor.dtype), bytes_(tensor.bytes), values_(values) {}

  Extremes read(const Chunk& chunk) const {
    if (dtype_ == DType::f64) {
      std::vector<double> wide(chunk.count);
      std::memcpy(wide.data(), bytes(chunk), chunk.count * sizeof(double));
      return extremes_of<double>(wide);
    }
    convert_to_f32(dtype_, bytes(chunk), values(chunk));
    return extremes_of<float>(values(chunk));
  }

  // After read(): values become the elements times 2^scale, 0 for those that are not finite.
  double scale(const Chunk& chunk, int exponent) const {
    const std::span<float> out = values(chunk);
    if (dtype_ == DType::f64) {
      const PowerOfTwo<double> power(exponent);
      const std::byte* const from = bytes(chunk);
      for (size_t i = 0; i < out.size(); ++i) {
        double value = 0;
        std::memcpy(&value, from + i * sizeof value, sizeof value);
        out[i] = is_finite(value) ? static_cast<float>(power.times(value)) : 0.0f;
      }
    } else {
      const PowerOfTwo<float> power(exponent);
      for (float& value : out) value = is_finite(value) ? power.times(value) : 0.0f;
    }
    double energy = 0;
    for (const double value : out) energy += value * value;
    return energy;
  }

  // Before scale().
  void patch(const Chunk& chunk, PatchWriter& patches) const {
    const size_t size = properties(dtype_).bytes;
    const std::byte* const from = bytes(chunk);
    for (uint64_t i = 0; i < chunk.count; ++i) {
      double value = 0;
      read_doubles(dtype_, from + i * size, std::span(&value, 1));
      if (is_finite(value)) continue;
      uint64_t bits = 0;
      std::memcpy(&bits, from + i * size, size);
      patches.add(chunk.first + i, bits);
    }
  }

 private:
  const std::byte* bytes(const Chunk& chunk) const {
    return bytes_.data() + chunk.first * properties(dtype_).bytes;
  }
  std::span<float> values(const Chunk& chunk) const {
    return values_.subspan(chunk.first, chunk.count);
  }

  DType dtype_;
  std::span<const std::byte> bytes_;
  std::span<float> values_;
};

// NaN, of which only damaged values make any, becomes `largest`; -0 becomes 0.
template <typename T>
T limited(T value, T largest) {
  return std::max(-largest, std::min(largest, value)) + T{0};
}

float largest_finite(DType dtype) {
  switch (dtype) {
    case DType::f8_e5m2:
      return 57344;
    case DType::f8_e4m3:
      return 448;
    case DType::f16:
      return 65504;
    case DType::bf16:
      return array::bf16_to_f32(0x7f7f);
    default:
      return std::numeric_limits<float>::max();
  }
}

}  // namespace

template <typename T>
PowerOfTwo<T>::PowerOfTwo(int exponent)
    : first(std::ldexp(T{1}, exponent / 2)), second(std::ldexp(T{1}, exponent - exponent / 2)) {}
template struct PowerOfTwo<float>;
template struct PowerOfTwo<double>;

Result<NormalisedTensor> normalise(const TensorView& tensor, ThreadPool* pool) {
  const uint64_t elements = tensor.bytes.size() / properties(tensor.dtype).bytes;
  NormalisedTensor result;
  result.values.resize(elements);
  const Source source(tensor, result.values);
  const size_t chunks = (elements + kChunkElements - 1) / kChunkElements;

  std::vector<Extremes> extremes(chunks);
  run_tasks(pool, chunks, [&](size_t i) { extremes[i] = source.read(chunk_of(elements, i)); });
  PatchWriter patches(properties(tensor.dtype).bytes);
  double largest = 0;
  for (size_t i = 0; i < chunks; ++i) {
    largest = std::max(largest, extremes[i].largest);
    if (!extremes[i].all_finite) source.patch(chunk_of(elements, i), patches);
    if (patches.too_many()) break;
  }
  result.patches = patches.finish();
  if (result.patches.size() > kMaxPatchBytes) {
    return fail(ErrorCode::unsupported,
                fmt::format("transform of a tensor with non-finite elements: their patches take "
                            "more than {} bytes; encode it as lossless",
                            kMaxPatchBytes));
  }
  if (largest > 0) result.scale = -(std::ilogb(largest) + 1);

  std::vector<double> energies(chunks);
  run_tasks(pool, chunks,
            [&](size_t i) { energies[i] = source.scale(chunk_of(elements, i), result.scale); });
  for (const double energy : energies) result.energy += energy;
  return result;
}

void denormalise(std::span<const float> values, int scale, DType dtype, std::byte* out) {
  if (dtype == DType::f64) {
    constexpr double kLargest = std::numeric_limits<double>::max();
    const PowerOfTwo<double> power(-scale);
    for (size_t i = 0; i < values.size(); ++i) {
      const double value = limited(power.times(static_cast<double>(values[i])), kLargest);
      std::memcpy(out + i * sizeof value, &value, sizeof value);
    }
    return;
  }
  const float largest = largest_finite(dtype);
  const PowerOfTwo<float> power(-scale);
  const size_t element_bytes = properties(dtype).bytes;
  float scaled[1024];
  for (size_t done = 0; done < values.size(); done += std::size(scaled)) {
    const size_t count = std::min(std::size(scaled), values.size() - done);
    for (size_t i = 0; i < count; ++i) {
      scaled[i] = limited(power.times(values[done + i]), largest);
    }
    convert_from_f32(std::span(scaled, count), dtype, out + done * element_bytes);
  }
}

void read_doubles(DType dtype, const std::byte* bytes, std::span<double> values) {
  if (dtype == DType::f64) {
    std::memcpy(values.data(), bytes, values.size_bytes());
    return;
  }
  const size_t element_bytes = properties(dtype).bytes;
  float narrow[1024];
  for (size_t done = 0; done < values.size(); done += std::size(narrow)) {
    const size_t count = std::min(std::size(narrow), values.size() - done);
    convert_to_f32(dtype, bytes + done * element_bytes, std::span(narrow, count));
    std::copy(narrow, narrow + count, values.begin() + static_cast<ptrdiff_t>(done));
  }
}

}  // namespace hoist::tensors
