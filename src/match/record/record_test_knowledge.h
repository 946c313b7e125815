// A RecordSource over the oracle's knowledge, for tests.
#pragma once

#include <algorithm>
#include <map>
#include <random>

#include "match/oracle/record_oracle.h"
#include "match/record/record_source.h"

namespace hoist::match {

class KnowledgeSource final : public RecordSource {
 public:
  explicit KnowledgeSource(const oracle::Knowledge& knowledge) : knowledge_(knowledge) {
    for (const auto& known : knowledge.patterns) {
      Flat& flat = patterns_.emplace_back();
      std::vector<uint32_t> distinct;
      for (const auto& event : known.events) {
        flat.event_sizes.push_back(static_cast<uint16_t>(event.size()));
        for (const std::string& symbol : event) {
          const auto [at, is_new] = ids_.try_emplace(symbol, static_cast<uint32_t>(texts_.size()));
          if (is_new) {
            texts_.push_back(symbol);
            patterns_with_.push_back(0);
          }
          flat.symbols.push_back(at->second);
          distinct.push_back(at->second);
        }
      }
      std::sort(distinct.begin(), distinct.end());
      distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
      for (const uint32_t symbol : distinct) ++patterns_with_[symbol];
    }
  }

  // The id, and one from the top down for symbols that no pattern has.
  uint32_t id(const std::string& symbol) {
    const auto known = ids_.find(symbol);
    if (known != ids_.end()) return known->second;
    const auto next = static_cast<uint32_t>(unknown_.size());
    return ~0u - unknown_.try_emplace(symbol, next).first->second;
  }
  size_t size() const { return patterns_.size(); }
  // As a device does, which leaves every third to the caller.
  void summarize_blocks() { summarizes_ = true; }

  Pattern pattern(uint64_t candidate, std::vector<uint32_t>& scratch) const override {
    scratch = patterns_[candidate].symbols;
    return {scratch, patterns_[candidate].event_sizes};
  }
  Shape shape(uint64_t candidate) const override {
    const Flat& flat = patterns_[candidate];
    return {static_cast<uint32_t>(flat.symbols.size()), flat.event_sizes};
  }
  std::vector<BlockSummary> summarize_blocks(std::span<const uint32_t> state,
                                             std::span<const Candidate> candidates,
                                             const std::stop_token&) const override {
    std::vector<BlockSummary> summaries(summarizes_ ? candidates.size() : 0);
    const BlockMatcher matcher(state);
    BlockMatcher::Scratch scratch;
    std::vector<Block> blocks;
    for (size_t i = 0; i < summaries.size(); ++i) {
      if (i % 3 == 2) continue;
      const Flat& flat = patterns_[candidates[i].id];
      matcher.find(flat.symbols, blocks, scratch);
      summaries[i] = summarize(flat.symbols, blocks);
    }
    return summaries;
  }
  std::string name(uint64_t candidate) const override {
    return knowledge_.patterns[candidate].name;
  }
  bool named_before(uint64_t x, uint64_t y) const override {
    return knowledge_.patterns[x].name < knowledge_.patterns[y].name;
  }
  uint64_t frequency(uint64_t candidate) const override {
    return knowledge_.patterns[candidate].frequency;
  }
  std::vector<Emotive> emotives(uint64_t candidate) const override {
    std::vector<Emotive> all;
    for (const auto& entry : knowledge_.patterns[candidate].emotives) {
      for (const auto& [key, value] : entry) all.push_back({key, value});
    }
    return all;
  }
  uint64_t patterns_with(uint32_t symbol) const override {
    return symbol < texts_.size() ? patterns_with_[symbol] : 0;
  }
  uint64_t occurrences(uint32_t symbol) const override {
    if (symbol >= texts_.size()) return 0;
    const auto found = knowledge_.occurrences.find(texts_[symbol]);
    return found == knowledge_.occurrences.end() ? 0 : found->second;
  }
  double affinity(uint32_t symbol, std::string_view) const override {
    if (symbol >= texts_.size()) return 0;
    const auto found = knowledge_.affinity.find(texts_[symbol]);
    return found == knowledge_.affinity.end() ? 0 : found->second;
  }
  std::string_view text(uint32_t symbol) const override { return texts_[symbol]; }
  Totals totals() const override {
    return {patterns_.size(), knowledge_.total_pattern_frequencies, texts_.size()};
  }

 private:
  struct Flat {
    std::vector<uint32_t> symbols;
    std::vector<uint16_t> event_sizes;
  };

  const oracle::Knowledge& knowledge_;
  std::vector<Flat> patterns_;
  std::map<std::string, uint32_t> ids_;
  std::map<std::string, uint32_t> unknown_;
  std::vector<std::string> texts_;
  std::vector<uint64_t> patterns_with_;
  bool summarizes_ = false;
};

// Symbols are short words over a small alphabet, some of several bytes.
inline oracle::Events random_events(std::mt19937_64& random, size_t most, uint32_t vocabulary) {
  static const char* const kEndings[] = {"", "s", "é", "ing", "\xff"};
  oracle::Events events(1 + random() % most);
  for (auto& event : events) {
    for (size_t i = 1 + random() % 3; i > 0; --i) {
      const uint64_t word = random() % vocabulary;
      event.push_back("w" + std::to_string(word / 5) + kEndings[word % 5]);
    }
  }
  return events;
}

inline oracle::Knowledge random_knowledge(std::mt19937_64& random, size_t patterns, size_t events,
                                          uint32_t vocabulary) {
  oracle::Knowledge knowledge;
  for (size_t i = 0; i < patterns; ++i) {
    auto& known = knowledge.patterns.emplace_back();
    known.name = std::to_string(random() % 1000) + "/" + std::to_string(i);
    known.events = random_events(random, events, vocabulary);
    known.frequency = 1 + random() % 5;
    for (size_t e = random() % 4; e > 0; --e) {
      auto& entry = known.emotives.emplace_back();
      entry.emplace_back("joy", static_cast<double>(random() % 100) / 7);
      if (random() % 2 == 0) entry.emplace_back("fear", -static_cast<double>(random() % 9));
    }
    knowledge.total_pattern_frequencies += 1 + random() % 2;
    for (const auto& event : known.events) {
      for (const std::string& symbol : event) {
        knowledge.occurrences[symbol] += known.frequency;
        knowledge.affinity[symbol] += static_cast<double>(random() % 21) - 10;
      }
    }
  }
  return knowledge;
}

}  // namespace hoist::match
