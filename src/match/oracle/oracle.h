// The rules of matching, transcribed literally and slowly: what every faster implementation is
// compared with in tests. Each function is the textbook's, or follows the description of the
// program that it imitates, with none of the data structures of score/, scan/ and record/. It is
// itself compared with CPython's difflib and with RapidFuzz (tests/match_oracle_test.py).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hoist::match::oracle {

using Symbols = std::vector<uint32_t>;

// Dynamic programming over the whole matrix.
size_t lcs_length(const Symbols& a, const Symbols& b);
size_t levenshtein_distance(const Symbols& a, const Symbols& b);

struct Block {
  size_t a, b, size;
};

// difflib.SequenceMatcher(None, a, b, autojunk).get_matching_blocks() less its terminator.
std::vector<Block> matching_blocks(const Symbols& a, const Symbols& b, bool autojunk);

struct Opcode {
  std::string tag;  // "equal", "replace", "delete", "insert"
  size_t a_begin, a_end, b_begin, b_end;
};
std::vector<Opcode> opcodes(const Symbols& a, const Symbols& b, bool autojunk);

double ratio(const Symbols& a, const Symbols& b, bool autojunk);

// KATO's similarity, and whether it keeps the pattern.
double kato_similarity(size_t lcs, size_t n, size_t m);
bool kato_keeps(size_t lcs, size_t n, size_t m, double threshold);

// RapidFuzz normalized_similarity of LCSseq, Indel and Levenshtein.
double lcs_similarity(size_t lcs, size_t n, size_t m);
double indel_similarity(size_t lcs, size_t n, size_t m);
double levenshtein_similarity(size_t distance, size_t n, size_t m);

// Code points of UTF-8; a byte that is not UTF-8 stands for itself.
Symbols code_points(const std::string& text);

// RapidFuzz fuzz.ratio of two strings, 0..100.
double fuzz_ratio(const std::string& a, const std::string& b);

// The same as process.extractOne and process.extract report it with a cut-off, which they hold in
// 32 bits; nothing where they do not.
std::optional<double> extract(const std::string& a, const std::string& b, double cutoff);

}  // namespace hoist::match::oracle
