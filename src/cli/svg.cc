#include "cli/svg.h"

#include <fmt/core.h>

#include <cstdint>

namespace hoist::cli::svg {
namespace {

constexpr double kFontSize = 12;
constexpr double kSwatch = 24;      // a legend's line
constexpr double kLegendLine = 20;  // the distance of two lines of a legend

// Colours distinct for most kinds of colour blindness (after Okabe and Ito 2008); on dark ground
// lighter ones of the same hues.
constexpr std::string_view kStyle = R"(<style>
text { fill: #24292f; } .page { fill: #ffffff; }
.over { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; }
.frame, .mark { fill: none; stroke: #57606a; } .grid { stroke: #8c959f; stroke-opacity: 0.3; }
.c0 { color: #d55e00; } .c1 { color: #0072b2; } .c2 { color: #00845f; } .c3 { color: #b3568a; }
.c4 { color: #a87500; } .curve { fill: none; stroke: currentColor; stroke-width: 2.5; }
.thin { stroke-width: 1; stroke-opacity: 0.7; } .extrapolated { stroke-dasharray: 7 5; }
.change { stroke-dasharray: 2 3; } .point { fill: currentColor; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .page { fill: #0d1117; } .over { stroke: #0d1117; } .frame, .mark { stroke: #9198a1; }
  .c0 { color: #ff8a3d; } .c1 { color: #58aef0; } .c2 { color: #35c79a; } .c3 { color: #e495c0; }
  .c4 { color: #e8b83a; }
}
</style>
)";

std::string escape(std::string_view text) {
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

// Shares of the font size.
double character_width(char c) {
  constexpr std::string_view kNarrow = " .,:;'|!()[]{}/\\iIjlftr-";
  constexpr std::string_view kWide = "mwMW@%+=<>~#&";
  if (kNarrow.find(c) != std::string_view::npos) return 0.46;
  if (kWide.find(c) != std::string_view::npos) return 1;
  return c >= 'A' && c <= 'Z' ? 0.8 : 0.64;
}

}  // namespace

std::string colour_class(size_t i) {
  constexpr size_t kColours = 5;
  return fmt::format("c{}", i % kColours);
}

double text_width(std::string_view words, double font_size) {
  double shares = 0;
  for (const char c : words) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x80) {
      shares += character_width(c);
    } else if (byte >= 0xc0) {  // the first of a character's bytes
      shares += 1;
    }
  }
  return shares * font_size;
}

std::string document(const std::string& content, double height) {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
             "height=\"{1}\" font-family=\"system-ui, sans-serif\" font-size=\"{2}\">\n",
             kWidth, height, kFontSize) +
         std::string(kStyle) + "<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n" +
         content + "</svg>\n";
}

std::string text(double x, double y, std::string_view style, std::string_view words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, style, escape(words));
}

std::string title(std::string_view words) {
  return text(kLeft, 26, "font-size=\"16\" font-weight=\"600\"", words);
}

std::string line(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1,
                     x2, y2, style);
}

std::string path(std::string_view data, std::string_view style) {
  return fmt::format("<path d=\"{}\" {}/>\n", data, style);
}

std::string frame() {
  return fmt::format("<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                     kLeft, kTop, kRight - kLeft, kBottom - kTop);
}

std::string column(double x, std::string_view label) {
  return line(x, kTop, x, kBottom, "class=\"grid\"") +
         text(x, kBottom + 18, "text-anchor=\"middle\"", label);
}

std::string row(double y, std::string_view label) {
  return line(kLeft, y, kRight, y, "class=\"grid\"") +
         text(kLeft - 8, y + 4, "text-anchor=\"end\"", label);
}

std::string columns_title(std::string_view words) {
  return text((kLeft + kRight) / 2, kBottom + 40, "text-anchor=\"middle\"", words);
}

std::string rows_title(std::string_view words) {
  return fmt::format(
      "<text transform=\"translate(18 {}) rotate(-90)\" text-anchor=\"middle\">{}"
      "</text>\n",
      (kTop + kBottom) / 2, escape(words));
}

Legend legend(const std::vector<LegendEntry>& entries) {
  Legend made;
  double x = kLeft;
  double y = kFrameHeight + 14;
  for (const LegendEntry& entry : entries) {
    const double width = kSwatch + 6 + text_width(entry.words, kFontSize);
    if (x > kLeft && x + width > kRight) {
      x = kLeft;
      y += kLegendLine;
    }
    made.drawn += entry.style.empty()
                      ? fmt::format(
                            "<circle class=\"point\" style=\"color: #808080\" cx=\"{:.1f}\" "
                            "cy=\"{:.1f}\" r=\"3.5\"/>\n",
                            x + kSwatch / 2, y - 4)
                      : line(x, y - 4, x + kSwatch, y - 4, entry.style);
    made.drawn += text(x + kSwatch + 6, y, "class=\"legend\"", entry.words);
    x += width + 18;
  }
  made.height = y + 16;
  return made;
}

}  // namespace hoist::cli::svg
