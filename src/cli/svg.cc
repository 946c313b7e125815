#include "cli/svg.h"

#include <fmt/core.h>

namespace hoist::cli::svg {
namespace {

constexpr std::string_view kGrid = "stroke=\"#808080\" stroke-opacity=\"0.25\"";

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

}  // namespace

std::string document(const std::string& content, size_t pictures) {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
             "height=\"{1}\" font-family=\"system-ui, sans-serif\" font-size=\"12\" "
             "fill=\"{2}\">\n",
             kWidth, kHeight * static_cast<double>(pictures), kInk) +
         content + "</svg>\n";
}

std::string text(double x, double y, std::string_view style, std::string_view words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, style, escape(words));
}

std::string title(std::string_view words) {
  return text(kLeft, 24, "font-size=\"16\" font-weight=\"600\"", words);
}

std::string line(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1,
                     x2, y2, style);
}

std::string path(std::string_view data, std::string_view style) {
  return fmt::format("<path d=\"{}\" fill=\"none\" {}/>\n", data, style);
}

std::string frame() {
  return fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"{}\"/>\n", kLeft,
      kTop, kRight - kLeft, kBottom - kTop, kInk);
}

std::string column(double x, std::string_view label) {
  return line(x, kTop, x, kBottom, kGrid) + text(x, kBottom + 18, "text-anchor=\"middle\"", label);
}

std::string row(double y, std::string_view label) {
  return line(kLeft, y, kRight, y, kGrid) + text(kLeft - 8, y + 4, "text-anchor=\"end\"", label);
}

std::string columns_title(std::string_view words) {
  return text((kLeft + kRight) / 2, kHeight - 14, "text-anchor=\"middle\"", words);
}

}  // namespace hoist::cli::svg
