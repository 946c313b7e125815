#include "match/record/text_similarity.h"

#include "match/score/edit_distance.h"
#include "match/score/scorer.h"

namespace hoist::match {
namespace {

std::vector<uint32_t> code_points(std::string_view text) {
  std::vector<uint32_t> points;
  append_code_points(text, points);
  return points;
}

// Bytes of the sequence that begins with this byte, 1 where none does.
size_t sequence_size(uint8_t lead) {
  if (lead >= 0xF8 || lead < 0xC0) return 1;
  return lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
}

}  // namespace

void append_code_points(std::string_view text, std::vector<uint32_t>& points) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<uint8_t>(text[i]);
    const size_t size = sequence_size(lead);
    uint32_t point = size == 1 ? lead : lead & (0x7Fu >> size);
    bool whole = i + size <= text.size();
    for (size_t k = 1; whole && k < size; ++k) {
      const auto next = static_cast<uint8_t>(text[i + k]);
      whole = (next & 0xC0) == 0x80;
      point = point << 6 | (next & 0x3Fu);
    }
    points.push_back(whole ? point : lead);
    i += whole ? size : 1;
  }
}

TextRatio::TextRatio(std::string_view text) : masks_(code_points(text)) {}

double TextRatio::normalized(const std::vector<uint32_t>& points,
                             const std::stop_token& stop) const {
  return score_of(Scorer::indel, lcs_length(masks_, points, stop), points.size(), masks_.length())
      .normalized;
}

bool passes_cutoff(double normalized, double percent) {
  const double cutoff = held_cutoff(percent);
  return normalized >= cutoff / 100.0 && normalized * 100.0 >= cutoff;
}

}  // namespace hoist::match
