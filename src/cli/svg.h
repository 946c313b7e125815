// Pieces of self-contained SVG pictures for light and for dark ground: a frame with grid lines,
// labels and titles of the axes, text, lines, paths, and a legend that is never cut off.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hoist::cli::svg {

// A picture of that width with the frame between the four borders, in pixels from the top left. The
// legend lies below kFrameHeight, in as many lines as it needs.
inline constexpr double kWidth = 760;
inline constexpr double kFrameHeight = 430;
inline constexpr double kLeft = 92;
inline constexpr double kRight = 726;
inline constexpr double kTop = 44;
inline constexpr double kBottom = 380;

// Lines are drawn in the colours of the classes "c0" … "c4", which the style sheet of document()
// has for both grounds. A class beyond the last one starts again from the first.
std::string colour_class(size_t i);

// An upper bound of the width of a text in common sans-serif fonts (DejaVu Sans and Verdana are the
// widest of those that browsers take), in pixels.
double text_width(std::string_view words, double font_size);

// A whole picture. `height` of what `content` holds.
std::string document(const std::string& content, double height);

// `style`: attributes; the class "over" keeps words readable on lines. `words` are escaped.
std::string text(double x, double y, std::string_view style, std::string_view words);
std::string title(std::string_view words);
std::string line(double x1, double y1, double x2, double y2, std::string_view style);
// `data`: as in the attribute `d`.
std::string path(std::string_view data, std::string_view style);

std::string frame();
// Grid lines with their labels, below the frame and left of it.
std::string column(double x, std::string_view label);
std::string row(double y, std::string_view label);
// What the columns and the rows mean, with the unit.
std::string columns_title(std::string_view words);
std::string rows_title(std::string_view words);

// What the marks of a picture mean.
struct LegendEntry {
  std::string style;  // of the line that stands before the words; empty: a point
  std::string words;
};
struct Legend {
  std::string drawn;
  double height;  // of the picture with it
};
Legend legend(const std::vector<LegendEntry>& entries);

}  // namespace hoist::cli::svg
