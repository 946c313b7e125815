#include <array>
#include <iostream>
#include <numeric>
#include <vector>

#include "tour.h"

using namespace hoist::array;

hoist::Status tour_arrays() {
  std::vector<float> values(3 * 4);
  std::iota(values.begin(), values.end(), 0.0f);
  const std::array<uint64_t, 2> shape = {3, 4};
  const auto view = View::of(values.data(), DType::f32, shape);
  if (!view) return view.error();
  const auto rows = view->slice(0, 1, 3);
  if (!rows) return rows.error();
  const auto turned = rows->transposed(0, 1);
  if (!turned) return turned.error();

  // The view's strides are in elements, and its memory is that of `values`.
  values[4] = 40;
  const auto* const data = reinterpret_cast<const float*>(turned->data);
  std::cout << "turned rows 1 and 2:";
  for (int64_t i = 0; i < turned->extents[0]; ++i) {
    for (int64_t j = 0; j < turned->extents[1]; ++j) {
      std::cout << ' ' << data[i * turned->strides[0] + j * turned->strides[1]];
    }
  }
  std::cout << '\n';
  return {};
}
