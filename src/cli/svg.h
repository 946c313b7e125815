// Pieces of self-contained SVG pictures that are readable on light and on dark ground: a frame with
// grid lines and labels, text, lines and paths.
#pragma once

#include <string>
#include <string_view>

namespace hoist::cli::svg {

// A picture of that size with the frame between the four borders, in pixels from the top left.
inline constexpr double kWidth = 760;
inline constexpr double kHeight = 460;
inline constexpr double kLeft = 78;
inline constexpr double kRight = 722;
inline constexpr double kTop = 64;
inline constexpr double kBottom = 400;

// Distinct for most kinds of colour blindness, and of middling lightness, which shows on white and
// on black (after Okabe and Ito 2008).
inline constexpr const char* kColours[] = {"#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00"};
inline constexpr const char* kInk = "#808080";

// All of a picture but `content`; `pictures` lie one below another.
std::string document(const std::string& content, size_t pictures = 1);

// `style`: attributes. `words` are escaped.
std::string text(double x, double y, std::string_view style, std::string_view words);
std::string title(std::string_view words);
std::string line(double x1, double y1, double x2, double y2, std::string_view style);
// `data`: as in the attribute `d`.
std::string path(std::string_view data, std::string_view style);

std::string frame();
// Grid lines with their labels, below the frame and left of it.
std::string column(double x, std::string_view label);
std::string row(double y, std::string_view label);
// What the columns mean.
std::string columns_title(std::string_view words);

}  // namespace hoist::cli::svg
