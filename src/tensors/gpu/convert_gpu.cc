#include "tensors/gpu/convert_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "array/convert.h"
#include "device/kernel.h"

namespace hoist::tensors {
namespace {

// The kinds, elements and how many, a block's size, scales and zeros, the result.
constinit const device::Kernel<DType, DType, const void*, uint64_t, uint64_t, const void*,
                               const void*, void*>
    convert("hoist_cuda_tensors_convert", "conversion of elements");

bool is_input(DType dtype) {
  constexpr DType kInputs[] = {DType::i8,  DType::u8,   DType::f8_e4m3, DType::f8_e5m2,
                               DType::f16, DType::bf16, DType::f32};
  return std::find(std::begin(kInputs), std::end(kInputs), dtype) != std::end(kInputs);
}

bool is_output(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::f32;
}

void convert_on_host(const std::byte* in, DType from, std::byte* out, DType to, uint64_t count,
                     const Quantisation& quantisation) {
  std::array<float, 1024> values;
  for (uint64_t done = 0; done < count; done += values.size()) {
    const auto part = std::span(values).first(std::min<uint64_t>(values.size(), count - done));
    convert_to_f32(from, in + done * properties(from).bytes, part);
    for (size_t i = 0; quantisation.block != 0 && i < part.size(); ++i) {
      const uint64_t block = (done + i) / quantisation.block;
      const float zero = quantisation.zeros == nullptr ? 0 : quantisation.zeros[block];
      part[i] = (part[i] - zero) * quantisation.scales[block];
    }
    convert_from_f32(part, to, out + done * properties(to).bytes);
  }
}

}  // namespace

Status convert_on_device(device::Span<const std::byte> in, DType from, device::Span<std::byte> out,
                         DType to, const Quantisation& quantisation, device::Stream& stream) {
  if (!is_input(from) || !is_output(to)) {
    return fail(ErrorCode::unsupported,
                fmt::format("conversion on the device from {} to {}: from i8, u8 and floats to "
                            "f16, bf16 and f32",
                            properties(from).name, properties(to).name));
  }
  const uint64_t count = in.size / properties(from).bytes;
  if (count * properties(from).bytes != in.size || count * properties(to).bytes != out.size ||
      (quantisation.block != 0 && quantisation.scales == nullptr)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("conversion of {} bytes of {} to {} bytes of {}: sizes and scales must "
                            "agree",
                            in.size, properties(from).name, out.size, properties(to).name));
  }
  const auto on_host = [=] { convert_on_host(in.data, from, out.data, to, count, quantisation); };
  return convert.launch_or_run(stream, on_host, from, to, in.data, count, quantisation.block,
                               quantisation.scales, quantisation.zeros, out.data);
}

}  // namespace hoist::tensors
