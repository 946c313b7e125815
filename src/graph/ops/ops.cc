#include "graph/ops/ops.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace hoist::graph {
namespace {

using array::DType;
using array::View;
using ops_detail::kernels_f32;

// Whether some of c is another element of a: in one pass, that would be read after it was written.
bool overlaps_shifted(const float* a, const float* c, size_t n) {
  return a != c && a < c + n && c < a + n;
}

// write(c), where need be to another place first.
template <typename Write>
void write_apart(bool is_needed, float* c, size_t n, const Write& write) {
  if (!is_needed) [[likely]] {
    return write(c);
  }
  std::vector<float> apart(n);
  write(apart.data());
  std::memcpy(c, apart.data(), n * sizeof(float));
}

template <typename Write>
void from_one(const float* a, float* c, size_t n, const Write& write) {
  write_apart(overlaps_shifted(a, c, n), c, n, write);
}

const float* f32(const View& view) { return reinterpret_cast<const float*>(view.data); }
float* f32_out(const View& view) { return reinterpret_cast<float*>(view.data); }

Status check(const View& view) {
  if (view.dtype != DType::f32) {
    return fail(ErrorCode::unsupported, "no operation on elements of type " +
                                            std::string(array::properties(view.dtype).framework) +
                                            ": convert them to float32");
  }
  if (view.device.kind != array::DeviceKind::cpu) {
    return fail(ErrorCode::unsupported, "the array is not in the CPU's memory: copy it there");
  }
  if (!view.is_contiguous()) {
    return fail(ErrorCode::unsupported, "the array has gaps: make it contiguous");
  }
  return {};
}

Status check(const View& a, const View& out) {
  if (Status ok = check(a); !ok) return ok;
  if (Status ok = check(out); !ok) return ok;
  if (!std::ranges::equal(a.shape(), out.shape())) {
    return fail(ErrorCode::invalid_argument, "the arrays differ in shape: give them one");
  }
  return {};
}

}  // namespace

void apply(Binary operation, const float* a, const float* b, float* c, size_t n) {
  write_apart(overlaps_shifted(a, c, n) || overlaps_shifted(b, c, n), c, n, [&](float* to) {
    kernels_f32().binary[static_cast<size_t>(operation)](a, b, to, n);
  });
}

void apply(Unary operation, const float* a, float* c, size_t n) {
  from_one(a, c, n,
           [&](float* to) { kernels_f32().unary[static_cast<size_t>(operation)](a, to, n); });
}

void apply(Scalar operation, const float* a, float number, float* c, size_t n) {
  from_one(a, c, n, [&](float* to) {
    kernels_f32().scalar[static_cast<size_t>(operation)](a, to, n, number);
  });
}

void clip(const float* a, float low, float high, float* c, size_t n) {
  from_one(a, c, n, [&](float* to) { kernels_f32().clip(a, to, n, low, high); });
}

void fclip(const float* a, float low, float high, float* c, size_t n) {
  from_one(a, c, n, [&](float* to) { kernels_f32().fclip(a, to, n, low, high); });
}

float sum(const float* a, size_t n) { return kernels_f32().sum(a, n); }

float extreme(Extreme which, const float* a, size_t n) {
  return kernels_f32().extreme[static_cast<size_t>(which)](a, n);
}

float loss_sum(LossSum which, const float* predictions, const float* targets, size_t n) {
  return kernels_f32().loss_sum[static_cast<size_t>(which)](predictions, targets, n);
}

Status apply(Binary operation, const View& a, const View& b, const View& out) {
  if (Status ok = check(a, out); !ok) return ok;
  if (Status ok = check(b, out); !ok) return ok;
  apply(operation, f32(a), f32(b), f32_out(out), out.elements());
  return {};
}

Status apply(Unary operation, const View& a, const View& out) {
  if (Status ok = check(a, out); !ok) return ok;
  apply(operation, f32(a), f32_out(out), out.elements());
  return {};
}

Status apply(Scalar operation, const View& a, double number, const View& out) {
  if (Status ok = check(a, out); !ok) return ok;
  apply(operation, f32(a), static_cast<float>(number), f32_out(out), out.elements());
  return {};
}

Status clip(const View& a, double low, double high, const View& out) {
  if (Status ok = check(a, out); !ok) return ok;
  clip(f32(a), static_cast<float>(low), static_cast<float>(high), f32_out(out), out.elements());
  return {};
}

Result<double> sum(const View& a) {
  if (Status ok = check(a); !ok) return ok.error();
  return sum(f32(a), a.elements());
}

Result<double> extreme(Extreme which, const View& a) {
  if (Status ok = check(a); !ok) return ok.error();
  if (a.elements() == 0) {
    return fail(ErrorCode::invalid_argument,
                "no elements have no least or largest one: give at least one");
  }
  return extreme(which, f32(a), a.elements());
}

}  // namespace hoist::graph
