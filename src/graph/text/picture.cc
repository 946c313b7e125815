#include "graph/text/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "graph/text/names.h"

namespace hoist::graph::text {
namespace {

using program::Graph;
using program::Id;
using program::Node;

// Pixels.
constexpr size_t kLine = 16;
constexpr size_t kGap = 40;
constexpr size_t kLeastWidth = 200;
constexpr size_t kCharacter = 8;  // of a monospaced font of 11 pixels, at most

constexpr std::string_view kStyle =
    "<style>text { fill: #24292f; font: 11px monospace; } .head { font-weight: bold; } "
    ".page { fill: #ffffff; } .box { stroke: #57606a; } .flow { stroke: #57606a; fill: none; } "
    ".tip { fill: #57606a; } .k0 { fill: #e8f0fe; } .k1 { fill: #e6f4ea; } .k2 { fill: #fef7e0; } "
    ".k3 { fill: #fce8e6; } .k4 { fill: #f3e8fd; } .k5 { fill: #e0f7fa; }\n"
    "@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .page { fill: #0d1117; } "
    ".box, .flow { stroke: #9198a1; } .tip { fill: #9198a1; } .k0 { fill: #1b2b4b; } "
    ".k1 { fill: #17352a; } .k2 { fill: #3b3213; } .k3 { fill: #43211f; } .k4 { fill: #33234a; } "
    ".k5 { fill: #143a40; } }</style>";
constexpr size_t kColours = 6;

struct Box {
  std::vector<std::string> lines;
  std::set<size_t> needs;  // boxes that it reads
  size_t level = 0;
  size_t x = 0;
  size_t y = 0;
  size_t height() const { return lines.size() * kLine + 12; }
};

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      result += c;
  }
  return result;
}

// The kernels that make each node's elements: its own, or those of the arrays that a view shows.
std::vector<std::set<size_t>> makers(const program::Program& program) {
  const Graph& graph = program.graph();
  std::vector<std::optional<size_t>> kernel_of(graph.size());
  for (size_t k = 0; k < program.kernels().size(); ++k) {
    for (const Id id : program.kernels()[k].members) kernel_of[id] = k;
  }
  std::vector<std::set<size_t>> makers(graph.size());
  for (Id id = 0; id < graph.size(); ++id) {
    if (kernel_of[id]) {
      makers[id].insert(*kernel_of[id]);
      continue;
    }
    for (const Id input : graph[id].inputs) {
      makers[id].insert(makers[input].begin(), makers[input].end());
    }
  }
  return makers;
}

std::vector<Box> boxes_of(const program::Program& program) {
  const Graph& graph = program.graph();
  const std::vector<std::set<size_t>> makers = text::makers(program);
  std::vector<Box> boxes(program.kernels().size());
  for (size_t k = 0; k < boxes.size(); ++k) {
    Box& box = boxes[k];
    box.lines.push_back(fmt::format("kernel {}", k));
    for (const Id id : program.kernels()[k].members) {
      const Node& node = graph[id];
      box.lines.push_back(fmt::format("{} {}", program::properties(node.op).name,
                                      type_text(node.dtype, node.shape)));
      for (const Id input : node.inputs) {
        box.needs.insert(makers[input].begin(), makers[input].end());
      }
    }
    box.needs.erase(k);
    for (const size_t before : box.needs) {
      if (before < k) box.level = std::max(box.level, boxes[before].level + 1);
    }
  }
  return boxes;
}

}  // namespace

std::string picture(const program::Program& program, std::string_view title) {
  std::vector<Box> boxes = boxes_of(program);
  size_t width = kLeastWidth;
  size_t levels = 0;
  for (const Box& box : boxes) {
    levels = std::max(levels, box.level + 1);
    for (const std::string& line : box.lines) {
      width = std::max(width, line.size() * kCharacter + 2 * kLine);
    }
  }
  size_t bottom = kGap;
  size_t right = kGap;
  for (size_t level = 0; level < levels; ++level) {
    size_t x = kGap;
    size_t height = 0;
    for (Box& box : boxes) {
      if (box.level != level) continue;
      box.x = x;
      box.y = bottom;
      x += width + kGap;
      height = std::max(height, box.height());
    }
    right = std::max(right, x);
    bottom += height + kGap;
  }
  std::string shapes;
  for (const Box& box : boxes) {
    for (const size_t before : box.needs) {
      const Box& from = boxes[before];
      shapes +=
          fmt::format(R"svg(<path class="flow" d="M{} {} L{} {}" marker-end="url(#arrow)"/>)svg",
                      from.x + width / 2, from.y + from.height(), box.x + width / 2, box.y);
    }
  }
  for (size_t k = 0; k < boxes.size(); ++k) {
    const Box& box = boxes[k];
    shapes += fmt::format(R"(<rect class="box k{}" x="{}" y="{}" width="{}" height="{}" rx="6"/>)",
                          k % kColours, box.x, box.y, width, box.height());
    for (size_t i = 0; i < box.lines.size(); ++i) {
      shapes += fmt::format(R"(<text{} x="{}" y="{}">{}</text>)", i == 0 ? " class=\"head\"" : "",
                            box.x + 8, box.y + (i + 1) * kLine, escaped(box.lines[i]));
    }
    shapes += '\n';
  }
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}">)"
      "<title>{2}</title>{3}"
      R"(<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" )"
      R"(markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>)"
      R"(<rect class="page" width="{0}" height="{1}"/>)"
      "\n{4}</svg>\n",
      right, bottom, escaped(title), kStyle, shapes);
}

}  // namespace hoist::graph::text
