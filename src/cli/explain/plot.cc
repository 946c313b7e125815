#include "cli/explain/plot.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
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
using svg::kLeft;
using svg::kRight;
using svg::kTop;

// Above that ratio of the slowest to the fastest time, 2 and 5 of each decade get no line.
constexpr double kManyDecades = 1e5;

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
               profile.machine.cpus, /*with_hoistd=*/true),
        measured_cpus_(profile.machine.cpus) {
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

  // The picture with what it needs of height. `top`: where it begins in the whole picture.
  std::string draw(double top, double& height) const {
    const svg::Legend legend = svg::legend(legend_entries());
    height = legend.height;
    return fmt::format("<svg y=\"{}\" width=\"{}\" height=\"{}\">\n", top, svg::kWidth, height) +
           svg::title(title()) + axes() + curves() + break_evens() + legend.drawn + "</svg>\n";
  }

 private:
  struct Drawn {
    std::string measured;
    std::string extrapolated;
  };

  std::string title() const {
    std::string words = fmt::format("{}: predicted time with {} CPU{}", report_.name, report_.cpus,
                                    report_.cpus == 1 ? "" : "s");
    if (measured_cpus_ != report_.cpus) words += fmt::format(" (measured with {})", measured_cpus_);
    return words;
  }

  std::vector<svg::LegendEntry> legend_entries() const {
    std::vector<svg::LegendEntry> entries;
    bool extrapolated = false;
    for (size_t i = 0; i < model_.size(); ++i) {
      entries.push_back({curve_style(i, ""), model_.name(i)});
      extrapolated |= !curve(i).extrapolated.empty();
    }
    entries.push_back({"", "measured"});
    if (extrapolated) {
      entries.push_back({"class=\"mark extrapolated\" stroke-width=\"2.5\"",
                         "extrapolated: this size was not measured"});
    }
    if (!break_evens().empty()) {
      entries.push_back({"class=\"mark change\"", "the choice changes"});
    }
    return entries;
  }

  static std::string curve_style(size_t i, std::string_view more) {
    return fmt::format("class=\"{} curve{}\"", svg::colour_class(i), more);
  }

  std::string axes() const {
    std::string drawn;
    for (double decade = std::floor(std::log10(y_.low)); decade <= std::log10(y_.high); ++decade) {
      for (const int digit : {1, 2, 5}) {
        const double seconds = digit * std::pow(10, decade);
        if (seconds < y_.low || seconds > y_.high) continue;
        if (digit != 1 && y_.high / y_.low > kManyDecades) continue;
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
    return drawn + svg::frame() + svg::columns_title("input size (KiB, MiB, GiB)") +
           svg::rows_title("time (s, ms, µs)");
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
      drawn += svg::line(x, kTop, x, kBottom, "class=\"mark change\"");
      const std::string words =
          fmt::format("{} from {}", choice.implementation, show_size(choice.from));
      const bool left = x + 6 + svg::text_width(words, 12) > kRight;
      drawn += svg::text(left ? x - 6 : x + 6, kTop + 16 + 16 * (level++ % 4),
                         left ? "class=\"over\" text-anchor=\"end\"" : "class=\"over\"", words);
    }
    return drawn;
  }

  // The bytes between which an implementation was measured.
  std::pair<double, double> measured_range(const std::string& name) const {
    std::pair<double, double> range{1e300, 0};
    for (const Curve& curve : report_.curves) {
      if (curve.implementation != name) continue;
      for (const Point& point : curve.points) {
        range.first = std::min(range.first, std::max(1.0, 1.0 * point.shape.bytes));
        range.second = std::max(range.second, 1.0 * point.shape.bytes);
      }
    }
    return range;
  }

  // One implementation's line, in its measured and its extrapolated pieces.
  Drawn curve(size_t i) const {
    const auto [first, last] = measured_range(model_.name(i));
    Drawn drawn;
    std::string before;
    constexpr int kSteps = 400;
    for (int step = 0; step <= kSteps; ++step) {
      const double bytes = x_.low * std::pow(x_.high / x_.low, 1.0 * step / kSteps);
      const double seconds =
          model_.seconds(i, static_cast<uint64_t>(std::ceil(bytes)), report_.cpus);
      if (!(seconds >= y_.low && seconds <= y_.high)) {  // not used here, or beyond the frame
        before.clear();
        continue;
      }
      const std::string here = fmt::format("{:.1f} {:.1f}", x_.at(bytes), y_.at(seconds));
      // The steps' sizes are rounded; a hundredth is less than a step.
      const bool measured = bytes > first * 0.99 && bytes < last * 1.01;
      std::string& piece = measured ? drawn.measured : drawn.extrapolated;
      if (!before.empty()) {
        piece += piece.ends_with(before) ? " L" + here : fmt::format("M{} L{}", before, here);
      }
      before = here;
    }
    return drawn;
  }

  std::string curves() const {
    std::string all;
    for (size_t i = 0; i < model_.size(); ++i) {
      const Drawn drawn = curve(i);
      if (!drawn.measured.empty()) all += svg::path(drawn.measured, curve_style(i, ""));
      if (!drawn.extrapolated.empty()) {
        all += svg::path(drawn.extrapolated, curve_style(i, " extrapolated"));
      }
      all += points(model_.name(i), i);
    }
    return all;
  }

  std::string points(const std::string& name, size_t i) const {
    std::string drawn;
    for (const Curve& curve : report_.curves) {
      if (curve.implementation != name) continue;
      for (const Point& point : curve.points) {
        drawn += fmt::format("<circle class=\"{} point\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>\n",
                             svg::colour_class(i), x_.at(std::max(1.0, 1.0 * point.shape.bytes)),
                             y_.at(point.seconds * point.factor));
      }
    }
    return drawn;
  }

  const VariantReport& report_;
  const Model model_;
  const int measured_cpus_;
  Axis x_;
  Axis y_;
};

}  // namespace

std::string plot_svg(const std::vector<VariantReport>& reports,
                     const placement::Operation& operation, const placement::Profile& profile) {
  std::string all;
  double top = 0;
  for (const VariantReport& report : reports) {
    double height = 0;
    all += Plot(report, operation, profile).draw(top, height);
    top += height;
  }
  return svg::document(all, top);
}

}  // namespace hoist::cli
