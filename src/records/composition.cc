#include "records/composition.h"

#include <algorithm>
#include <cstring>

namespace hoist::records {
namespace {

// Shorter parts save nothing.
constexpr size_t kShortestPart = 3;

void add_row(ColumnRows& column, uint32_t row) {
  if (!column.single) return;
  if (!column.rows.empty() && column.rows.back() == row) {
    column = {.rows = {}, .single = false};
  } else {
    column.rows.push_back(row);
  }
}

bool begins_with(std::string_view text, std::string_view part) {
  return text.size() >= part.size() && std::memcmp(text.data(), part.data(), part.size()) == 0;
}

}  // namespace

template <typename Number>
std::vector<ColumnRows> rows_of_columns(std::span<const Shape> shapes, std::span<const Number> rows,
                                        size_t columns) {
  std::vector<ColumnRows> out(columns);
  for (uint32_t row = 0; row < rows.size(); ++row) {
    for (const Piece& piece : shapes[static_cast<size_t>(rows[row])]) {
      if (piece.slot == SlotKind::none) continue;
      if (piece.slot == SlotKind::list) {
        out[piece.column] = {.rows = {}, .single = false};
        out[piece.lengths] = {.rows = {}, .single = false};
      } else {
        add_row(out[piece.column], row);
      }
    }
  }
  return out;
}
template std::vector<ColumnRows> rows_of_columns(std::span<const Shape>, std::span<const uint32_t>,
                                                 size_t);
template std::vector<ColumnRows> rows_of_columns(std::span<const Shape>, std::span<const int64_t>,
                                                 size_t);

std::vector<std::string_view> beside(std::span<const uint32_t> rows,
                                     std::span<const uint32_t> their_rows, Strings texts) {
  std::vector<std::string_view> out(rows.size());
  size_t at = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    // Mostly the next one.
    if (at < their_rows.size() && their_rows[at] < rows[i]) ++at;
    if (at < their_rows.size() && their_rows[at] < rows[i]) {
      const auto found = std::lower_bound(their_rows.begin() + static_cast<ptrdiff_t>(at),
                                          their_rows.end(), rows[i]);
      at = static_cast<size_t>(found - their_rows.begin());
    }
    if (at < their_rows.size() && their_rows[at] == rows[i]) out[i] = texts[at];
  }
  return out;
}

void append_pattern(std::string_view text, std::span<const std::string_view> parts,
                    std::string& out) {
  while (!text.empty()) {
    size_t best = parts.size();
    for (size_t k = 0; k < parts.size(); ++k) {
      if (parts[k].size() < kShortestPart || parts[k][0] != text[0] || !begins_with(text, parts[k]))
        continue;
      if (best == parts.size() || parts[k].size() > parts[best].size()) best = k;
    }
    if (best < parts.size()) {
      out.push_back(static_cast<char>(1 + best));
      text.remove_prefix(parts[best].size());
      continue;
    }
    const bool is_mark =
        (text[0] >= 1 && text[0] <= static_cast<char>(parts.size())) || text[0] == kLiteral;
    if (is_mark) out.push_back(kLiteral);
    out.push_back(text[0]);
    text.remove_prefix(1);
  }
}

bool append_text(std::string_view pattern, std::span<const std::string_view> parts,
                 size_t most_bytes, std::vector<char>& out) {
  for (size_t at = 0; at < pattern.size(); ++at) {
    std::string_view piece = pattern.substr(at, 1);
    const auto mark = static_cast<uint8_t>(piece[0]);
    if (mark >= 1 && mark <= parts.size()) {
      piece = parts[mark - 1];
    } else if (piece[0] == kLiteral) {
      if (++at == pattern.size()) return false;
      piece = pattern.substr(at, 1);
    }
    if (piece.size() > most_bytes - out.size()) return false;
    out.insert(out.end(), piece.begin(), piece.end());
  }
  return true;
}

}  // namespace hoist::records
