// Log lines: templates with variables, found in the block itself.
//
// A line is words, between characters that belong to no word. Words with a digit in them are
// variables: dates, times, addresses, numbers. Lines with the same characters between their words
// and variables at the same places form a group (as IPLoM does; Makanju, Zincir-Heywood and Milios,
// KDD 2009). In a group the words that differ most from line to line become variables, one place
// after the other, until the lines left over as templates are few.
//
// Variables near the front of a line (dates, hosts, levels) have columns by their place, the others
// by the word before them that all lines of the group have: `took 5 ms` has a column
// "/took.number". So columns have the same names in all blocks, and groups share them. Those of
// small groups share one a kind.
#include <algorithm>
#include <string>
#include <unordered_set>

#include "codec/numbering.h"
#include "records/limits.h"
#include "records/line_parser.h"
#include "records/log_words.h"

namespace hoist::records {
namespace {

constexpr size_t kMaxWords = 512;       // of a line; longer lines stay as they are
constexpr size_t kHeadWords = 4;        // with columns by place
constexpr size_t kSmallGroup = 8;       // lines
constexpr size_t kStudiedLines = 1024;  // of a group, at most
constexpr size_t kLinesATemplate = 24;  // a template more is allowed for so many lines
constexpr size_t kMaxRounds = 16;       // then all words that differ become variables

struct Group {
  std::vector<uint32_t> lines;
  // For each word:
  std::vector<bool> variable;
  std::vector<WordKind> kinds;  // `name` where lines differ
  std::vector<bool> same;       // in all lines that were studied
};

class LogParser final : public LineParser {
 public:
  LogParser(ColumnIndex& columns, const std::vector<std::string_view>& lines)
      : columns_(columns), lines_(lines) {
    first_word_.reserve(lines.size() + 1);
    group_of_.reserve(lines.size());
    for (const std::string_view line : lines) read(line);
    first_word_.push_back(words_.size());
    for (Group& group : groups_) study(group);
  }

  bool may_match() const override { return false; }

  bool parse(std::string_view /*line*/, size_t row, LineSlots& out) override {
    if (group_of_[row] == kNoGroup) return false;
    const Group& group = groups_[group_of_[row]];
    const size_t first = first_word_[row];
    for (size_t i = 0; i < group.variable.size(); ++i) {
      if (!group.variable[i]) continue;
      out.add(words_[first + i].text, column(group, first, i), Scan::none);
    }
    return true;
  }

 private:
  static constexpr uint32_t kNoGroup = UINT32_MAX;

  void read(std::string_view line) {
    first_word_.push_back(words_.size());
    if (!split_words(line, kMaxWords, words_)) {
      words_.resize(first_word_.back());
      group_of_.push_back(kNoGroup);
      return;
    }
    const auto row = static_cast<uint32_t>(group_of_.size());
    const auto [place, is_new] =
        numbers_.try_emplace(skeleton(line), static_cast<uint32_t>(groups_.size()));
    if (is_new) groups_.emplace_back();
    Group& group = groups_[place->second];
    for (size_t i = first_word_.back(); i < words_.size(); ++i) {
      const WordKind kind = words_[i].kind;
      if (is_new) {
        group.variable.push_back(kind != WordKind::word);
        group.kinds.push_back(kind);
      } else if (WordKind& known = group.kinds[i - first_word_.back()]; known != kind) {
        known = WordKind::name;
      }
    }
    group.lines.push_back(row);
    group_of_.push_back(place->second);
  }

  // The line with a mark in place of each word.
  const std::string& skeleton(std::string_view line) {
    key_.clear();
    const char* at = line.data();
    for (size_t i = first_word_.back(); i < words_.size(); ++i) {
      const LogWord& word = words_[i];
      key_.append(at, word.text.data() - at);
      key_.push_back(word.kind == WordKind::word ? 'w' : '0');
      at = word.text.data() + word.text.size();
    }
    return key_.append(at, line.data() + line.size() - at);
  }

  // Makes words variable until the group has few templates.
  void study(Group& group) {
    const size_t lines = std::min(group.lines.size(), kStudiedLines);
    const size_t words = group.variable.size();
    group.same.assign(words, lines < 2);
    if (lines < 2) return;
    std::vector<uint64_t> hashes(lines * words);
    std::vector<size_t> distinct(words);
    for (size_t w = 0; w < words; ++w) {
      if (group.variable[w]) continue;
      seen_.clear();
      for (size_t i = 0; i < lines; ++i) {
        const size_t line = group.lines[i * group.lines.size() / lines];
        hashes[i * words + w] = codec::hash_of(words_[first_word_[line] + w].text);
        seen_.insert(hashes[i * words + w]);
      }
      distinct[w] = seen_.size();
      group.same[w] = seen_.size() == 1;
    }
    const size_t allowed = 1 + lines / kLinesATemplate;
    for (size_t round = 0; templates(group, hashes, lines) > allowed; ++round) {
      if (round == kMaxRounds) {
        for (size_t w = 0; w < words; ++w) group.variable[w] = !group.same[w];
        return;
      }
      size_t most = words;
      for (size_t w = 0; w < words; ++w) {
        if (!group.variable[w] && (most == words || distinct[w] > distinct[most])) most = w;
      }
      if (most == words) return;
      group.variable[most] = true;
    }
  }

  size_t templates(const Group& group, const std::vector<uint64_t>& hashes, size_t lines) {
    seen_.clear();
    const size_t words = group.variable.size();
    for (size_t i = 0; i < lines; ++i) {
      uint64_t hash = 0;
      for (size_t w = 0; w < words; ++w) {
        if (!group.variable[w]) hash = codec::hash_of(hash ^ hashes[i * words + w]) + w;
      }
      seen_.insert(hash);
    }
    return seen_.size();
  }

  // The column of word number `word` of the line whose words begin at `first`.
  uint32_t column(const Group& group, size_t first, size_t word) {
    path_.assign(1, '/');
    size_t distance = 0;
    const std::string_view before = word_before(group, first, word, distance);
    const bool is_small = group.lines.size() < kSmallGroup;
    if (word < kHeadWords || (before.empty() && !is_small)) {
      path_.append(std::to_string(word)).append(".");
    } else if (!is_small) {
      path_.append(before).append(".");
      if (distance > 1) path_.append(std::to_string(distance)).append(".");
    }
    path_.append(name(group.kinds[word]));
    return columns_.find(path_, ColumnKind::bare);
  }

  // The nearest word in front that all lines of the group have, if it has a letter and is short
  // enough for a name, and how many words away it is.
  std::string_view word_before(const Group& group, size_t first, size_t word,
                               size_t& distance) const {
    constexpr size_t kLongest = 32;
    for (distance = 1; distance <= word; ++distance) {
      const size_t at = word - distance;
      const std::string_view text = words_[first + at].text;
      if (!group.same[at] || group.variable[at] || text.size() > kLongest) continue;
      if (std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A'; })) return text;
    }
    return {};
  }

  ColumnIndex& columns_;
  const std::vector<std::string_view>& lines_;
  std::vector<LogWord> words_;
  std::vector<size_t> first_word_;  // of each line, and the end
  std::vector<uint32_t> group_of_;
  std::vector<Group> groups_;
  std::unordered_map<std::string, uint32_t> numbers_;
  std::unordered_set<uint64_t> seen_;
  std::string key_;
  std::string path_;
};

}  // namespace

std::unique_ptr<LineParser> log_parser(ColumnIndex& columns,
                                       const std::vector<std::string_view>& lines) {
  return std::make_unique<LogParser>(columns, lines);
}

}  // namespace hoist::records
