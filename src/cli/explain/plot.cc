#include "cli/explain/plot.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "cli/tune/operations.h"
#include "placement/decide.h"

namespace hoist::cli {
namespace {

using placement::Model;
using placement::Point;

constexpr double kWidth = 760;
constexpr double kHeight = 460;
constexpr double kLeft = 78;
constexpr double kRight = 722;
constexpr double kTop = 64;
constexpr double kBottom = 400;

// Distinct for most kinds of colour blindness, and of middling lightness, which shows on white and
// on black (after Okabe and Ito 2008).
constexpr const char* kColours[] = {"#d55e00", "#0072b2", "#009e73", "#cc79a7"};
constexpr const char* kInk = "#808080";

// A logarithmic axis.
struct Axis {
  double low, high;   // of the values, above 0
  double start, end;  // in the picture
  double at(double value) const {
    return start + (end - start) * std::log(value / low) / std::log(high / low);
  }
};

std::string escape(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string line(double x1, double y1, double x2, double y2, const char* style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1,
                     x2, y2, style);
}

std::string text(double x, double y, const char* style, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, style, escape(words));
}

class Plot {
 public:
  Plot(const VariantReport& report, const placement::Operation& operation,
       const placement::Profile& profile)
      : report_(report),
        model_(*profile.find(report.name, placement::Residency::host), &operation,
               profile.machine.cpus) {
    double least = 1e300, most = 0, fastest = 1e300, slowest = 0;
    for (const Curve& curve : report.curves) {
      for (const Point& point : curve.points) {
        least = std::min(least, std::max(1.0, 1.0 * point.shape.bytes));
        most = std::max(most, 1.0 * point.shape.bytes);
        fastest = std::min(fastest, point.seconds * point.factor);
        slowest = std::max(slowest, point.seconds * point.factor);
      }
    }
    x_ = {least, std::max(most, 2 * least), kLeft, kRight};
    y_ = {fastest / 1.5, slowest * 1.5, kBottom, kTop};
  }

  // `top`: where it begins in the whole picture.
  std::string draw(double top) const {
    return fmt::format("<svg y=\"{}\" width=\"{}\" height=\"{}\">\n", top, kWidth, kHeight) +
           text(kLeft, 24, "font-size=\"16\" font-weight=\"600\"",
                fmt::format("{}: predicted time with {} CPU{}", report_.name, report_.cpus,
                            report_.cpus == 1 ? "" : "s")) +
           legend() + axes() + break_evens() + curves() + "</svg>\n";
  }

 private:
  static const char* colour(size_t i) { return kColours[i % std::size(kColours)]; }

  std::string legend() const {
    std::string svg;
    double x = kLeft;
    for (size_t i = 0; i < model_.size(); ++i) {
      svg += line(x, 42, x + 22, 42,
                  fmt::format("stroke=\"{}\" stroke-width=\"2.5\"", colour(i)).c_str());
      svg += text(x + 28, 46, "", model_.name(i));
      x += 50 + 7.5 * static_cast<double>(model_.name(i).size());
    }
    return svg + text(x, 46, "", "● measured   ┆ the choice changes");
  }

  std::string axes() const {
    const std::string grid = fmt::format("stroke=\"{}\" stroke-opacity=\"0.25\"", kInk);
    std::string svg;
    for (double decade = std::floor(std::log10(y_.low)); decade <= std::log10(y_.high); ++decade) {
      for (const int digit : {1, 2, 5}) {
        const double seconds = digit * std::pow(10, decade);
        if (seconds < y_.low || seconds > y_.high) continue;
        const double y = y_.at(seconds);
        svg += line(kLeft, y, kRight, y, grid.c_str());
        svg += text(kLeft - 8, y + 4, "text-anchor=\"end\"", show_seconds(seconds));
      }
    }
    const double octaves = std::log2(x_.high / x_.low);
    const double step = std::max(1.0, std::ceil(octaves / 9));
    for (double octave = std::ceil(std::log2(x_.low)); std::exp2(octave) <= x_.high * 1.001;
         octave += step) {
      const double x = x_.at(std::exp2(octave));
      svg += line(x, kTop, x, kBottom, grid.c_str());
      svg += text(x, kBottom + 18, "text-anchor=\"middle\"",
                  show_size(static_cast<uint64_t>(std::exp2(octave))));
    }
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"{}\"/>\n", kLeft,
        kTop, kRight - kLeft, kBottom - kTop, kInk);
    svg += text((kLeft + kRight) / 2, kHeight - 14, "text-anchor=\"middle\"", "input size");
    return svg;
  }

  std::string break_evens() const {
    std::string svg;
    int level = 0;
    for (const BreakEven& choice : report_.choices) {
      const auto from = static_cast<double>(choice.from);
      if (choice.from == 0 || from < x_.low || from > x_.high) continue;
      const double x = x_.at(from);
      svg += line(x, kTop, x, kBottom,
                  fmt::format("stroke=\"{}\" stroke-dasharray=\"4 4\"", kInk).c_str());
      const bool left = x > kRight - 150;
      svg += text(left ? x - 6 : x + 6, kTop + 16 + 16 * (level++ % 4),
                  left ? "text-anchor=\"end\"" : "",
                  fmt::format("{} from {}", choice.implementation, show_size(choice.from)));
    }
    return svg;
  }

  std::string curves() const {
    std::string svg;
    for (size_t i = 0; i < model_.size(); ++i) {
      std::string path;
      constexpr int kSteps = 200;
      for (int step = 0; step <= kSteps; ++step) {
        const double bytes = x_.low * std::pow(x_.high / x_.low, 1.0 * step / kSteps);
        const double seconds =
            model_.seconds(i, static_cast<uint64_t>(std::ceil(bytes)), report_.cpus);
        if (!std::isfinite(seconds)) continue;
        path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", x_.at(bytes),
                            std::clamp(y_.at(seconds), kTop, kBottom));
      }
      if (path.empty()) continue;
      svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.5\"/>\n",
                         path, colour(i));
      svg += points(model_.name(i), colour(i));
    }
    return svg;
  }

  std::string points(const std::string& name, const char* fill) const {
    std::string svg;
    for (const Curve& curve : report_.curves) {
      if (curve.implementation != name) continue;
      for (const Point& point : curve.points) {
        svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n",
                           x_.at(std::max(1.0, 1.0 * point.shape.bytes)),
                           y_.at(point.seconds * point.factor), fill);
      }
    }
    return svg;
  }

  const VariantReport& report_;
  const Model model_;
  Axis x_;
  Axis y_;
};

}  // namespace

std::string plot_svg(const std::vector<VariantReport>& reports,
                     const placement::Operation& operation, const placement::Profile& profile) {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"{2}\">\n",
      kWidth, kHeight * static_cast<double>(reports.size()), kInk);
  for (size_t i = 0; i < reports.size(); ++i) {
    svg += Plot(reports[i], operation, profile).draw(kHeight * static_cast<double>(i));
  }
  return svg + "</svg>\n";
}

}  // namespace hoist::cli
