#include "cli/tensors/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace hoist::cli {
namespace {

using tensors::HoloTensor;
using tensors::HoloTensorHeader;

constexpr double kWidth = 760;
constexpr double kHeight = 460;
constexpr double kLeft = 78;
constexpr double kRight = 722;
constexpr double kTop = 64;
constexpr double kBottom = 400;
constexpr size_t kMostLines = 60;
// Below it is drawn as nothing at all: what is exact has no place on a logarithmic axis.
constexpr double kLeast = 1e-8;

constexpr const char* kInk = "#808080";
constexpr const char* kOne = "#0072b2";
constexpr const char* kAll = "#d55e00";

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
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"{2}\">\n",
        kWidth, kHeight, kInk);
    svg += text(kLeft, 24, "font-size=\"16\" font-weight=\"600\"",
                "What is left to load: relative squared error by bits an element");
    svg += text(kLeft, 46, fmt::format("fill=\"{}\"", kAll), "— all tensors");
    svg += text(kLeft + 110, 46, fmt::format("fill=\"{}\"", kOne), "— the largest ones");
    svg += axes();
    for (size_t i = 0; i < std::min(tensors.size(), kMostLines); ++i) {
      svg += path(tensors[i].curve,
                  fmt::format("stroke=\"{}\" stroke-opacity=\"0.35\" stroke-width=\"1\"", kOne));
    }
    if (!tensors.empty()) {
      svg += path(sum_of(tensors), fmt::format("stroke=\"{}\" stroke-width=\"2.5\"", kAll));
    }
    return svg + "</svg>\n";
  }

 private:
  double x(double bits) const { return kLeft + (kRight - kLeft) * bits / most_bits_; }
  static double y(double error) {
    const double depth = std::log10(std::clamp(error, kLeast, 1.0)) / std::log10(kLeast);
    return kTop + (kBottom - kTop) * depth;
  }
  static std::string text(double x, double y, const std::string& style, const std::string& words) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, style, words);
  }
  static std::string line(double x1, double y1, double x2, double y2) {
    return fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
        "stroke-opacity=\"0.25\"/>\n",
        x1, y1, x2, y2, kInk);
  }

  std::string axes() const {
    std::string svg;
    for (int decade = 0; decade >= -8; --decade) {
      const double at = y(std::pow(10, decade));
      svg += line(kLeft, at, kRight, at);
      const std::string label = decade == 0    ? "1"
                                : decade == -8 ? "exact"
                                               : fmt::format("1e{}", decade);
      svg += text(kLeft - 8, at + 4, "text-anchor=\"end\"", label);
    }
    const double step = std::max(1.0, std::ceil(most_bits_ / 16));
    for (double bits = 0; bits <= most_bits_ + 1e-9; bits += step) {
      svg += line(x(bits), kTop, x(bits), kBottom);
      svg += text(x(bits), kBottom + 18, "text-anchor=\"middle\"", fmt::format("{:.0f}", bits));
    }
    return svg + text((kLeft + kRight) / 2, kHeight - 14, "text-anchor=\"middle\"",
                      "bits an element, loaded");
  }

  std::string path(const Curve& curve, const std::string& style) const {
    std::string points = fmt::format("M{:.1f} {:.1f}", x(0), y(1));
    for (const Step& step : curve) {
      points += fmt::format(" L{:.1f} {:.1f}", x(step.bits), y(step.error));
    }
    return fmt::format("<path d=\"{}\" fill=\"none\" {}/>\n", points, style);
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
