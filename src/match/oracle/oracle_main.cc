// The oracle behind a pipe, for tests/match_oracle_test.py: a request is a line of integers
//   autojunk threshold*1000 n a… m b…
// and its answer a line of integers and hexadecimal doubles: lcs, levenshtein, KATO's similarity,
// whether it keeps the pair, the RapidFuzz similarities lcs, indel, levenshtein, ratio, the number
// of blocks, blocks, the number of opcodes, opcodes. "text A_HEX B_HEX" asks for fuzz.ratio of two
// UTF-8 strings.
#include <cstdio>
#include <iostream>
#include <sstream>

#include "match/oracle/oracle.h"

namespace hoist::match::oracle {
namespace {

Symbols read_symbols(std::istream& in) {
  size_t count = 0;
  in >> count;
  Symbols symbols(count);
  for (uint32_t& symbol : symbols) in >> symbol;
  return symbols;
}

std::string from_hex(const std::string& hex) {
  std::string text;
  for (size_t i = 1; i + 1 < hex.size(); i += 2) {  // after the "x" that keeps it from being empty
    text += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return text;
}

void answer_pair(std::istream& in) {
  int autojunk = 0;
  int thousandths = 0;
  in >> autojunk >> thousandths;
  const Symbols a = read_symbols(in);
  const Symbols b = read_symbols(in);
  const size_t n = a.size();
  const size_t m = b.size();
  const size_t lcs = lcs_length(a, b);
  const size_t distance = levenshtein_distance(a, b);
  std::printf("%zu %zu %a %d %a %a %a %a", lcs, distance, kato_similarity(lcs, n, m),
              static_cast<int>(kato_keeps(lcs, n, m, thousandths / 1000.0)),
              lcs_similarity(lcs, n, m), indel_similarity(lcs, n, m),
              levenshtein_similarity(distance, n, m), ratio(a, b, autojunk != 0));
  const auto blocks = matching_blocks(a, b, autojunk != 0);
  std::printf(" %zu", blocks.size());
  for (const Block& block : blocks) std::printf(" %zu %zu %zu", block.a, block.b, block.size);
  const auto codes = opcodes(a, b, autojunk != 0);
  std::printf(" %zu", codes.size());
  for (const Opcode& code : codes) {
    std::printf(" %s %zu %zu %zu %zu", code.tag.c_str(), code.a_begin, code.a_end, code.b_begin,
                code.b_end);
  }
}

void answer_texts(std::istream& in) {
  std::string word;
  std::string cutoff;  // hexadecimal, which streams do not read
  std::string a;
  std::string b;
  in >> word >> cutoff >> a >> b;
  const bool passes = extract(from_hex(a), from_hex(b), std::stod(cutoff)).has_value();
  std::printf("%a %d", fuzz_ratio(from_hex(a), from_hex(b)), static_cast<int>(passes));
}

}  // namespace
}  // namespace hoist::match::oracle

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream in(line);
    if (line.rfind("text ", 0) == 0) {
      hoist::match::oracle::answer_texts(in);
    } else {
      hoist::match::oracle::answer_pair(in);
    }
    std::printf("\n");
    if (std::cin.rdbuf()->in_avail() == 0) std::fflush(stdout);
  }
  return 0;
}
