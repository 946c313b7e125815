#include "records/composition_search.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>

#include "records/composition.h"
#include "records/integer_stream.h"

namespace hoist::records {
namespace {

constexpr size_t kSample = 32;
// Only columns near one another are tried: the search stays linear in the columns of a block.
constexpr size_t kNear = 32;
// A source with fewer texts than this in the sample repeats as well in the texts themselves.
constexpr size_t kFewestTexts = 6;

struct Sample {
  std::vector<std::string_view> texts;
  size_t bytes = 0;
  // Each candidate with its texts beside these.
  std::vector<std::pair<uint32_t, std::vector<std::string_view>>> candidates;
};

class CompositionSearch {
 public:
  CompositionSearch(const Tokens& tokens, Effort effort, std::vector<AnalysedColumn>& columns)
      : effort_(effort), columns_(columns) {
    if (std::none_of(columns.begin(), columns.end(), may_be_composed)) return;
    rows_ = rows_of_columns(std::span<const Shape>(tokens.shapes),
                            std::span<const uint32_t>(tokens.rows), columns.size());
  }

  void run() {
    if (rows_.empty()) return;
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < columns_.size(); ++i) {
      if (may_be_composed(columns_[i]) && rows_[i].single) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return columns_[a].text_bytes > columns_[b].text_bytes;
    });
    for (const uint32_t own : order) {
      const std::vector<uint32_t> sources = find_sources(own);
      if (!sources.empty()) compose(own, sources);
    }
    std::vector<bool> known(columns_.size());
    for (uint32_t i = 0; i < columns_.size(); ++i) find_depth(i, known);
  }

 private:
  static bool may_be_composed(const AnalysedColumn& column) {
    if (column.texts.size() < kSample) return false;
    if (column.type == ColumnType::strings) return true;
    return column.type == ColumnType::dictionary && column.entries.size() * 4 > column.texts.size();
  }

  // Whether `from` is composed of `to`, over however many others, or is it.
  bool reaches(uint32_t from, uint32_t to) const {
    std::vector<bool> visited(columns_.size());
    std::vector<uint32_t> todo = {from};
    while (!todo.empty()) {
      const uint32_t at = todo.back();
      todo.pop_back();
      if (at == to) return true;
      if (visited[at]) continue;
      visited[at] = true;
      const std::vector<uint32_t>& sources = columns_[at].text_sources;
      todo.insert(todo.end(), sources.begin(), sources.end());
    }
    return false;
  }

  // There are no circles, and no chain is longer than there are columns.
  void find_depth(uint32_t number, std::vector<bool>& known) {
    if (known[number]) return;
    known[number] = true;
    size_t& depth = columns_[number].text_depth;
    for (const uint32_t source : columns_[number].text_sources) {
      find_depth(source, known);
      depth = std::max(depth, columns_[source].text_depth + 1);
    }
  }

  Sample take_sample(uint32_t own) const {
    const AnalysedColumn& column = columns_[own];
    Sample sample;
    std::vector<uint32_t> rows;
    for (size_t i = 0; i < kSample; ++i) {
      const size_t at = i * column.texts.size() / kSample;
      sample.texts.push_back(column.texts[at]);
      sample.bytes += column.texts[at].size();
      rows.push_back(rows_[own].rows[at]);
    }
    const size_t first = own > kNear ? own - kNear : 0;
    for (size_t j = first; j < std::min(columns_.size(), own + kNear + 1); ++j) {
      const auto other = static_cast<uint32_t>(j);
      const AnalysedColumn& source = columns_[j];
      if (source.texts.empty() || source.type == ColumnType::constant ||
          source.type == ColumnType::copy || !rows_[j].single || reaches(other, own)) {
        continue;
      }
      std::vector<std::string_view> texts = beside(rows, rows_[j].rows, source.texts);
      const std::unordered_set<std::string_view> distinct(texts.begin(), texts.end());
      if (distinct.size() >= kFewestTexts) sample.candidates.emplace_back(other, std::move(texts));
    }
    return sample;
  }

  std::vector<uint32_t> find_sources(uint32_t own) const {
    Sample sample = take_sample(own);
    std::vector<uint32_t> sources;
    std::vector<std::vector<std::string_view>> chosen;
    std::string pattern;
    // Bytes of the sample's patterns with one source more.
    const auto size_with = [&](const std::vector<std::string_view>& texts) {
      std::array<std::string_view, kMaxTextSources> parts;
      size_t size = 0;
      for (size_t i = 0; i < kSample; ++i) {
        for (size_t k = 0; k < chosen.size(); ++k) parts[k] = chosen[k][i];
        parts[chosen.size()] = texts[i];
        pattern.clear();
        append_pattern(sample.texts[i], std::span(parts).first(chosen.size() + 1), pattern);
        size += pattern.size();
      }
      return size;
    };
    size_t size = sample.bytes;
    while (sources.size() < kMaxTextSources) {
      // Each source must take a twentieth of the texts, and what takes nothing will never.
      size_t best_size = size - sample.bytes / 20;
      std::optional<size_t> best;
      std::vector<size_t> sizes;
      for (const auto& [source, texts] : sample.candidates) sizes.push_back(size_with(texts));
      for (size_t j = 0; j < sizes.size(); ++j) {
        if (sizes[j] >= best_size) continue;
        best_size = sizes[j];
        best = j;
      }
      if (!best) break;
      sources.push_back(sample.candidates[*best].first);
      chosen.push_back(std::move(sample.candidates[*best].second));
      std::vector<std::pair<uint32_t, std::vector<std::string_view>>> left;
      for (size_t j = 0; j < sizes.size(); ++j) {
        if (j != *best && sizes[j] < size) left.push_back(std::move(sample.candidates[j]));
      }
      sample.candidates = std::move(left);
      size = best_size;
    }
    return size * 8 <= sample.bytes * worth(columns_[own]) ? sources : std::vector<uint32_t>();
  }

  // Eighths of the bytes that may be left.
  size_t worth(const AnalysedColumn& column) const {
    if (effort_ == Effort::best) return 8;
    return column.type == ColumnType::strings ? 7 : 4;
  }

  void compose(uint32_t own, const std::vector<uint32_t>& sources) {
    AnalysedColumn& column = columns_[own];
    std::vector<std::vector<std::string_view>> parts_of;
    for (const uint32_t source : sources) {
      parts_of.push_back(beside(rows_[own].rows, rows_[source].rows, columns_[source].texts));
    }
    std::string bytes;
    std::vector<size_t> ends;
    std::array<std::string_view, kMaxTextSources> parts;
    for (size_t i = 0; i < column.texts.size(); ++i) {
      for (size_t k = 0; k < sources.size(); ++k) parts[k] = parts_of[k][i];
      append_pattern(column.texts[i], std::span(parts).first(sources.size()), bytes);
      ends.push_back(bytes.size());
    }
    if (bytes.size() >= column.text_bytes) return;
    std::vector<char> kept(bytes.begin(), bytes.end());
    std::vector<std::string_view> patterns;
    size_t begin = 0;
    for (const size_t end : ends) {
      patterns.emplace_back(kept.data() + begin, end - begin);
      begin = end;
    }
    if (effort_ == Effort::best && size_of(patterns) >= size_of(column)) return;
    column.type = ColumnType::composed;
    column.text_sources = sources;
    column.pattern_bytes = std::move(kept);
    column.patterns = std::move(patterns);
  }

  static size_t size_of(Strings strings) {
    std::string out;
    encode_strings(strings, Effort::best, out);
    return out.size();
  }
  static size_t size_of(const AnalysedColumn& column) {
    if (column.type == ColumnType::strings) return size_of(column.texts);
    std::string codes;
    encode_integers(column.codes, Effort::best, codes);
    return codes.size() + size_of(column.entries);
  }

  Effort effort_;
  std::vector<AnalysedColumn>& columns_;
  std::vector<ColumnRows> rows_;
};

}  // namespace

void compose_columns(const Tokens& tokens, Effort effort, std::vector<AnalysedColumn>& columns) {
  CompositionSearch(tokens, effort, columns).run();
}

}  // namespace hoist::records
