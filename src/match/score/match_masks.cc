#include "match/score/match_masks.h"

namespace hoist::match {

MatchMasks::MatchMasks(std::span<const uint32_t> query)
    : length_(query.size()), symbols_(query.size()) {
  // Counted first, then placed: entries of one symbol lie together.
  std::vector<uint32_t> last_word;
  std::vector<uint32_t> counts;
  for (size_t i = 0; i < query.size(); ++i) {
    const uint32_t number = symbols_.add(query[i]);
    const auto word = static_cast<uint32_t>(i / 64);
    if (number == counts.size()) {
      counts.push_back(1);
      last_word.push_back(word);
    } else if (last_word[number] != word) {
      ++counts[number];
      last_word[number] = word;
    }
  }
  begins_.resize(counts.size() + 1);
  for (size_t i = 0; i < counts.size(); ++i) begins_[i + 1] = begins_[i] + counts[i];
  entries_.resize(begins_.back());
  std::vector<uint32_t> ends(begins_.begin(), begins_.end() - 1);
  for (size_t i = 0; i < query.size(); ++i) {
    const uint32_t number = symbols_.find(query[i]);
    const auto word = static_cast<uint32_t>(i / 64);
    uint32_t& end = ends[number];
    if (end == begins_[number] || entries_[end - 1].word != word) entries_[end++] = {0, word};
    entries_[end - 1].mask |= uint64_t{1} << (i % 64);
  }
}

}  // namespace hoist::match
