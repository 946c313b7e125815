// RapidFuzz's ratios of parts and of words, in percent, by the rules of its documentation.
//
// Words are what whitespace separates. Beyond their cut-off ratios are 0.
#pragma once

#include <vector>

#include "match/fuzz/words.h"

namespace hoist::match {

struct PartialAlignment {
  double score = 0;
  uint64_t source_begin = 0;
  uint64_t source_end = 0;
  uint64_t destination_begin = 0;
  uint64_t destination_end = 0;
};

double ratio(const Text& a, const Text& b, double cutoff);

// The shorter sequence with the most similar part, of its length at most, of the longer one.
PartialAlignment partial_ratio_alignment(const Text& a, const Text& b, double cutoff);
double partial_ratio(const Text& a, const Text& b, double cutoff);

double token_sort_ratio(const Text& a, const Text& b, double cutoff);
double token_set_ratio(const Text& a, const Text& b, double cutoff);
double token_ratio(const Text& a, const Text& b, double cutoff);
double partial_token_sort_ratio(const Text& a, const Text& b, double cutoff);
double partial_token_set_ratio(const Text& a, const Text& b, double cutoff);
double partial_token_ratio(const Text& a, const Text& b, double cutoff);

// The best of them, weighted by how much the lengths differ.
double weighted_ratio(const Text& a, const Text& b, double cutoff);
// ratio(), but 0 where a sequence is empty.
double quick_ratio(const Text& a, const Text& b, double cutoff);

}  // namespace hoist::match
