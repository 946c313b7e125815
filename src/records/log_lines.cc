// Log lines: templates with variables, found in the block itself.
//
// A line is words, between characters that belong to no word. Words with a digit in them are
// variables: dates, times, addresses, numbers. Lines with the same characters between their words
// and variables at the same places form a group (as IPLoM does; Makanju, Zincir-Heywood and Milios,
// KDD 2009). In a group the words that differ most from line to line become variables, one place
// after the other, until the lines left over as templates are few.
//
// Variables near the front of a line (dates, hosts, levels) share columns over all templates; the
// others have columns of their own, or, in small groups, of their class.
#include <algorithm>
#include <string>
#include <unordered_set>

#include "base/checksum.h"
#include "codec/numbering.h"
#include "records/limits.h"
#include "records/line_parser.h"
#include "records/log_words.h"

namespace hoist::records {
namespace {

constexpr size_t kMaxWords = 512;       // of a line; longer lines stay as they are
constexpr size_t kHeadWords = 4;        // that share columns
constexpr size_t kSmallGroup = 32;      // lines
constexpr size_t kStudiedLines = 1024;  // of a group, at most
constexpr size_t kLinesATemplate = 24;  // a template more is allowed for so many lines

struct Group {
  uint32_t number;
  std::vector<uint32_t> lines;
  std::vector<bool> variable;  // for each word
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
    const bool small = group.lines.size() < kSmallGroup;
    const size_t first = first_word_[row];
    for (size_t i = 0; i < group.variable.size(); ++i) {
      if (!group.variable[i]) continue;
      const LogWord& word = words_[first + i];
      out.add(word.text, column(group, i, word.kind, small), Scan::none);
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
    if (is_new) {
      groups_.push_back({.number = place->second, .lines = {}, .variable = {}});
      for (size_t i = first_word_.back(); i < words_.size(); ++i) {
        groups_.back().variable.push_back(words_[i].kind != WordKind::word);
      }
    }
    groups_[place->second].lines.push_back(row);
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
    }
    const size_t allowed = 1 + lines / kLinesATemplate;
    while (templates(group, hashes, lines) > allowed) {
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

  uint32_t column(const Group& group, size_t word, WordKind kind, bool small) {
    path_.assign(1, '/');
    if (word < kHeadWords) {
      path_.append(std::to_string(word)).append(".").append(name(kind));
    } else if (small) {
      path_.append(name(kind));
    } else {
      path_.append("t")
          .append(std::to_string(group.number))
          .append(".")
          .append(std::to_string(word));
    }
    return columns_.find(path_, ColumnKind::bare);
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
