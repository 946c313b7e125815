// RapidFuzz's ratios of parts and of words, in percent, by the rules of its documentation.
//
//   Ratios query;
//   query.set(text);  // its words and masks are made once
//   for (const Text& other : others) double score = query.token_set_ratio(other, 80);
//
// Words are what whitespace separates. Beyond their cut-off ratios are 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "match/fuzz/part_alignment.h"
#include "match/fuzz/part_counts.h"
#include "match/fuzz/query_masks.h"
#include "match/fuzz/words.h"
#include "match/pairs/pair_scorer.h"

namespace hoist::match {

// Longer sequences are compared within bands of the matrix, where the cut-off allows.
inline constexpr size_t kMostMasked = 512;

// Whether the ratio of sequences that have so much in common is below the cut-off, whatever the
// rounding.
inline bool is_ratio_below(uint64_t common, uint64_t lengths, double cutoff) {
  return 200.0 * static_cast<double>(common) < (cutoff - 1e-6) * static_cast<double>(lengths);
}

// A text in the forms that ratios compare, each made when it is first asked for.
class TextForms {
 public:
  // The text must outlive it, or the next set().
  void set(const Text& text);

  const Text& text() const { return text_; }
  const Words& words();     // sorted
  const Symbols& joined();  // they, joined
  const QueryMasks& masks();
  const QueryMasks& joined_masks();

 private:
  Text text_ = Text(Symbols());
  Words words_;
  std::vector<uint32_t> joined_room_;
  Symbols joined_;
  QueryMasks masks_;
  QueryMasks joined_masks_;
  bool has_words_ = false;
  bool has_joined_ = false;
  bool has_masks_ = false;
  bool has_joined_masks_ = false;
};

// Ratios of one text with others. Not for two threads at the same time.
class Ratios {
 public:
  // The text must outlive it, or the next set().
  void set(const Text& query) {
    query_.set(query);
    compared_ = 0;
  }

  double ratio(const Text& other, double cutoff);
  double partial_ratio(const Text& other, double cutoff);
  double token_sort_ratio(const Text& other, double cutoff);
  double token_set_ratio(const Text& other, double cutoff);
  double token_ratio(const Text& other, double cutoff);
  double partial_token_sort_ratio(const Text& other, double cutoff);
  double partial_token_set_ratio(const Text& other, double cutoff);
  double partial_token_ratio(const Text& other, double cutoff);
  // The best of them, weighted by how much the lengths differ.
  double weighted_ratio(const Text& other, double cutoff);

 private:
  // What the functions of the same names do, once `other_` is set.
  double ratio(double cutoff);
  double ratio_of_words(double cutoff);
  double parts(double cutoff);
  double parts_of_words(double cutoff);
  double ratio_of_sets(double cutoff);
  double parts_of_sets(double cutoff);
  double token_ratio(double cutoff);
  double partial_token_ratio(double cutoff);
  // Begins with another text.
  void compare_with(const Text& other) {
    other_.set(other);
    ++compared_;
  }
  // Whether masks pay: for one comparison they take longer than equal ends do that are left out.
  bool is_first(Symbols a, Symbols b) const {
    return compared_ <= 1 || std::max(a.size(), b.size()) > kMostMasked;
  }
  // Words of both.
  void split();
  bool is_subset() const;
  double best_part(Symbols a, const QueryMasks* of_a, Symbols b, const QueryMasks* of_b,
                   double cutoff);
  double best_part(Symbols needle, const QueryMasks& masks, Symbols text, double cutoff);

  uint64_t compared_ = 0;  // texts with the query
  TextForms query_;
  TextForms other_;
  WordSets sets_;
  std::vector<uint32_t> only_a_;  // joined
  std::vector<uint32_t> only_b_;
  QueryMasks masks_;
  PartCounts counts_;
};

}  // namespace hoist::match
