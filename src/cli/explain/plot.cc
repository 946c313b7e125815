#include "cli/explain/plot.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "cli/svg.h"
#include "cli/tune/operations.h"
#include "placement/decide.h"

namespace hoist::cli {
namespace {

using placement::Interval;
using placement::Model;
using placement::Point;
using svg::kBottom;
using svg::kInk;
using svg::kLeft;
using svg::kRight;
using svg::kTop;

// A logarithmic axis.
struct Axis {
  double low, high;   // of the values, above 0
  double start, end;  // in the picture
  double at(double value) const {
    return start + (end - start) * std::log(value / low) / std::log(high / low);
  }
};

class Plot {
 public:
  Plot(const VariantReport& report, const placement::Operation& operation,
       const placement::Profile& profile)
      : report_(report),
        model_(*profile.find(report.name, placement::Residency::host), &operation,
               profile.machine.cpus, /*with_hoistd=*/true) {
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
    return fmt::format("<svg y=\"{}\" width=\"{}\" height=\"{}\">\n", top, svg::kWidth,
                       svg::kHeight) +
           svg::title(fmt::format("{}: predicted time with {} CPU{}", report_.name, report_.cpus,
                                  report_.cpus == 1 ? "" : "s")) +
           legend() + axes() + break_evens() + curves() + "</svg>\n";
  }

 private:
  static const char* colour(size_t i) { return svg::kColours[i % std::size(svg::kColours)]; }

  std::string legend() const {
    std::string drawn;
    double x = kLeft;
    for (size_t i = 0; i < model_.size(); ++i) {
      drawn += svg::line(x, 42, x + 22, 42,
                         fmt::format("stroke=\"{}\" stroke-width=\"2.5\"", colour(i)));
      drawn += svg::text(x + 28, 46, "", model_.name(i));
      x += 50 + 7.5 * static_cast<double>(model_.name(i).size());
    }
    return drawn + svg::text(x, 46, "", "● measured   ┆ the choice changes");
  }

  std::string axes() const {
    std::string drawn;
    for (double decade = std::floor(std::log10(y_.low)); decade <= std::log10(y_.high); ++decade) {
      for (const int digit : {1, 2, 5}) {
        const double seconds = digit * std::pow(10, decade);
        if (seconds < y_.low || seconds > y_.high) continue;
        drawn += svg::row(y_.at(seconds), show_seconds(seconds));
      }
    }
    const double octaves = std::log2(x_.high / x_.low);
    const double step = std::max(1.0, std::ceil(octaves / 9));
    for (double octave = std::ceil(std::log2(x_.low)); std::exp2(octave) <= x_.high * 1.001;
         octave += step) {
      drawn += svg::column(x_.at(std::exp2(octave)),
                           show_size(static_cast<uint64_t>(std::exp2(octave))));
    }
    return drawn + svg::frame() + svg::columns_title("input size");
  }

  std::string break_evens() const {
    std::string drawn;
    int level = 0;
    std::vector<Interval> choices = report_.choices;
    std::copy_if(report_.choices_with_hoistd.begin(), report_.choices_with_hoistd.end(),
                 std::back_inserter(choices), [](const Interval& choice) {
                   return placement::needs_hoistd(choice.implementation);
                 });
    for (const Interval& choice : choices) {
      const auto from = static_cast<double>(choice.from);
      if (choice.from == 0 || from < x_.low || from > x_.high) continue;
      const double x = x_.at(from);
      drawn += svg::line(x, kTop, x, kBottom,
                         fmt::format("stroke=\"{}\" stroke-dasharray=\"4 4\"", kInk));
      const bool left = x > kRight - 150;
      drawn += svg::text(left ? x - 6 : x + 6, kTop + 16 + 16 * (level++ % 4),
                         left ? "text-anchor=\"end\"" : "",
                         fmt::format("{} from {}", choice.implementation, show_size(choice.from)));
    }
    return drawn;
  }

  std::string curves() const {
    std::string drawn;
    for (size_t i = 0; i < model_.size(); ++i) {
      std::string data;
      constexpr int kSteps = 200;
      for (int step = 0; step <= kSteps; ++step) {
        const double bytes = x_.low * std::pow(x_.high / x_.low, 1.0 * step / kSteps);
        const double seconds =
            model_.seconds(i, static_cast<uint64_t>(std::ceil(bytes)), report_.cpus);
        if (!std::isfinite(seconds)) continue;
        data += fmt::format("{}{:.1f} {:.1f}", data.empty() ? "M" : " L", x_.at(bytes),
                            std::clamp(y_.at(seconds), kTop, kBottom));
      }
      if (data.empty()) continue;
      drawn += svg::path(data, fmt::format("stroke=\"{}\" stroke-width=\"2.5\"", colour(i)));
      drawn += points(model_.name(i), colour(i));
    }
    return drawn;
  }

  std::string points(const std::string& name, const char* fill) const {
    std::string drawn;
    for (const Curve& curve : report_.curves) {
      if (curve.implementation != name) continue;
      for (const Point& point : curve.points) {
        drawn += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n",
                             x_.at(std::max(1.0, 1.0 * point.shape.bytes)),
                             y_.at(point.seconds * point.factor), fill);
      }
    }
    return drawn;
  }

  const VariantReport& report_;
  const Model model_;
  Axis x_;
  Axis y_;
};

}  // namespace

std::string plot_svg(const std::vector<VariantReport>& reports,
                     const placement::Operation& operation, const placement::Profile& profile) {
  std::string all;
  for (size_t i = 0; i < reports.size(); ++i) {
    all += Plot(reports[i], operation, profile).draw(svg::kHeight * static_cast<double>(i));
  }
  return svg::document(all, reports.size());
}

}  // namespace hoist::cli
