#include "cli/tensors/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cli/svg.h"

namespace hoist::cli {
namespace {

using svg::kBottom;
using svg::kLeft;
using svg::kRight;
using svg::kTop;
using tensors::HoloTensor;
using tensors::HoloTensorHeader;

constexpr size_t kMostLines = 60;
// Below it is drawn as nothing at all: what is exact has no place on a logarithmic axis.
constexpr double kLeast = 1e-8;

constexpr std::string_view kOne = "class=\"c1 curve thin\"";
constexpr std::string_view kAll = "class=\"c0 curve\"";

struct Step {
  double bits;   // an element, so far
  double error;  // 1 - quality
};
using Curve = std::vector<Step>;

Curve curve_of(const HoloTensor& tensor, uint64_t elements) {
  Curve curve;
  uint64_t bytes = 0;
  for (size_t i = 0; i < tensor.parts.size(); ++i) {
    bytes += tensor.parts[i].bytes;
    curve.push_back({8.0 * static_cast<double>(bytes) / static_cast<double>(elements),
                     1 - tensor.description.curve.prefixes[i].quality});
  }
  return curve;
}

struct Weighted {
  Curve curve;
  double elements;
};

// All tensors with their first k parts, for each k.
Curve sum_of(const std::vector<Weighted>& tensors) {
  size_t parts = 0;
  for (const Weighted& tensor : tensors) parts = std::max(parts, tensor.curve.size());
  Curve sum;
  for (size_t k = 0; k < parts; ++k) {
    Step step{0, 0};
    double elements = 0;
    for (const Weighted& tensor : tensors) {
      const Step& own = tensor.curve[std::min(k, tensor.curve.size() - 1)];
      step.bits += own.bits * tensor.elements;
      step.error += own.error * tensor.elements;
      elements += tensor.elements;
    }
    sum.push_back({step.bits / elements, step.error / elements});
  }
  return sum;
}

class Picture {
 public:
  explicit Picture(double most_bits) : most_bits_(std::max(most_bits, 1.0)) {}

  std::string draw(const std::vector<Weighted>& tensors) const {
    const size_t lines = std::min(tensors.size(), kMostLines);
    const svg::Legend legend = svg::legend(
        {{std::string(kAll), "all tensors, weighted by size"},
         {std::string(kOne),
          lines < tensors.size() ? fmt::format("each of the {} largest", lines) : "each tensor"}});
    std::string all = svg::title("Error that is left, by how much is loaded") + axes();
    for (size_t i = 0; i < lines; ++i) all += path(tensors[i].curve, kOne);
    if (!tensors.empty()) all += path(sum_of(tensors), kAll);
    return svg::document(all + legend.drawn, legend.height);
  }

 private:
  double x(double bits) const { return kLeft + (kRight - kLeft) * bits / most_bits_; }
  static double y(double error) {
    const double depth = std::log10(std::clamp(error, kLeast, 1.0)) / std::log10(kLeast);
    return kTop + (kBottom - kTop) * depth;
  }

  std::string axes() const {
    std::string all;
    for (int decade = 0; decade >= -8; --decade) {
      all += svg::row(y(std::pow(10, decade)), decade == 0    ? "1"
                                               : decade == -8 ? "exact"
                                                              : fmt::format("1e{}", decade));
    }
    const double step = std::max(1.0, std::ceil(most_bits_ / 16));
    for (double bits = 0; bits <= most_bits_ + 1e-9; bits += step) {
      all += svg::column(x(bits), fmt::format("{:.0f}", bits));
    }
    return all + svg::frame() + svg::columns_title("loaded (bits an element)") +
           svg::rows_title("relative squared error (1 − quality)");
  }

  std::string path(const Curve& curve, std::string_view style) const {
    std::string points = fmt::format("M{:.1f} {:.1f}", x(0), y(1));
    for (const Step& step : curve) {
      points += fmt::format(" L{:.1f} {:.1f}", x(step.bits), y(step.error));
    }
    return svg::path(points, style);
  }

  double most_bits_;
};

}  // namespace

std::string curve_svg(const HoloTensorHeader& header) {
  std::vector<Weighted> tensors;
  double most_bits = 0;
  for (const HoloTensor& tensor : header.tensors) {
    const uint64_t elements = tensor.bytes() / tensors::properties(tensor.description.dtype).bytes;
    if (elements == 0 || tensor.parts.size() < 2) continue;
    tensors.push_back({curve_of(tensor, elements), static_cast<double>(elements)});
    most_bits = std::max(most_bits, tensors.back().curve.back().bits);
  }
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const Weighted& a, const Weighted& b) { return a.elements > b.elements; });
  return Picture(most_bits).draw(tensors);
}

}  // namespace hoist::cli
