// Writes the benchmark's inputs: the same bytes for the same arguments on every machine.
//
//   make_data text|duplicates|numbers|csv LINES >FILE
//   make_data bytes SIZE >FILE
//   make_data files COUNT FOLDER
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace hoist::bench {
namespace {

constexpr uint64_t kSeed = 20240607;

// Steele, Lea, Flood: "Fast splittable pseudorandom number generators" (2014).
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // In [0, bound), for bounds far below 2^32.
  uint64_t below(uint64_t bound) { return ((next() >> 32) * bound) >> 32; }

 private:
  uint64_t state_;
};

// Appends to a block and writes it out whole; the first failure ends the output.
class Output {
 public:
  explicit Output(int fd) : fd_(fd) { block_.reserve(kBlock + kSlack); }
  std::string& block() {
    if (block_.size() >= kBlock) (void)flush();  // kept in `status_`
    return block_;
  }
  Status flush() {
    if (status_) status_ = write_full(fd_, block_.data(), block_.size(), "output");
    block_.clear();
    return status_;
  }

 private:
  static constexpr size_t kBlock = 1 << 20;
  static constexpr size_t kSlack = 1 << 16;
  int fd_;
  std::string block_;
  Status status_;
};

// Words drawn with the frequencies of natural language: the n-th most common word with a
// probability of about 1/n (Zipf). Some are capitalised and some carry accents, which is what
// makes collation differ from byte order.
class Vocabulary {
 public:
  explicit Vocabulary(SplitMix64& random) {
    static constexpr std::array<std::string_view, 30> kSyllables = {
        "ba", "co", "di", "fu", "ge",  "ha", "in", "jo",        "ka",        "le",
        "mi", "no", "or", "pa", "qui", "re", "sa", "to",        "un",        "ve",
        "wi", "xe", "ya", "zo", "st",  "th", "an", "\xc3\xa9l", "\xc3\xbcn", "\xc3\xb1o"};
    words_.resize(kWords);
    for (std::string& word : words_) {
      for (uint64_t n = 1 + random.below(4); n > 0; --n) {
        // The accented syllables are last and rare.
        const uint64_t pick = random.below(200);
        word +=
            kSyllables[pick < 3 ? kSyllables.size() - 3 + pick : pick % (kSyllables.size() - 3)];
      }
      if (random.below(8) == 0 && word[0] >= 'a') word[0] = static_cast<char>(word[0] - 'a' + 'A');
    }
    for (size_t i = 0; i < ranks_.size(); ++i) {
      const double u = (static_cast<double>(i) + 0.5) / static_cast<double>(ranks_.size());
      ranks_[i] = static_cast<uint32_t>(std::exp(u * std::log(double{kWords}))) - 1;
    }
  }
  std::string_view draw(SplitMix64& random) const {
    return words_[ranks_[random.below(ranks_.size())]];
  }
  void append_line(std::string& out, SplitMix64& random) const {
    for (uint64_t n = 3 + random.below(9); n > 0; --n) {
      out += draw(random);
      out += n > 1 ? ' ' : '\n';
    }
  }

 private:
  static constexpr uint32_t kWords = 50000;
  std::vector<std::string> words_;
  std::array<uint32_t, 65536> ranks_;
};

Status write_text(uint64_t lines, Output& out) {
  SplitMix64 random(kSeed);
  const Vocabulary vocabulary(random);
  for (uint64_t i = 0; i < lines; ++i) vocabulary.append_line(out.block(), random);
  return out.flush();
}

// Every distinct line about ten times, far apart.
Status write_duplicates(uint64_t lines, Output& out) {
  SplitMix64 random(kSeed);
  const Vocabulary vocabulary(random);
  const uint64_t distinct = lines / 10 + 1;
  for (uint64_t i = 0; i < lines; ++i) {
    SplitMix64 line(kSeed + random.below(distinct));
    vocabulary.append_line(out.block(), line);
  }
  return out.flush();
}

// Measurements: signs, one to ten digits, decimals on a third of them.
Status write_numbers(uint64_t lines, Output& out) {
  SplitMix64 random(kSeed);
  uint64_t scale[10] = {10};
  for (int i = 1; i < 10; ++i) scale[i] = scale[i - 1] * 10;
  for (uint64_t i = 0; i < lines; ++i) {
    std::string& block = out.block();
    if (random.below(4) == 0) block += '-';
    const uint64_t below = scale[random.below(10)];
    fmt::format_to(std::back_inserter(block), "{}", random.next() % below);
    if (random.below(3) == 0) {
      fmt::format_to(std::back_inserter(block), ".{:03}", random.below(1000));
    }
    block += '\n';
  }
  return out.flush();
}

// name,amount,town,id: the amount repeats, so that the second key has to decide.
Status write_csv(uint64_t lines, Output& out) {
  SplitMix64 random(kSeed);
  const Vocabulary vocabulary(random);
  for (uint64_t i = 0; i < lines; ++i) {
    // One draw a statement: the order in which arguments are evaluated is the compiler's choice.
    const auto name = vocabulary.draw(random);
    const uint64_t number = random.below(10000);
    const uint64_t amount = random.below(100000);
    const auto town = vocabulary.draw(random);
    fmt::format_to(std::back_inserter(out.block()), "{}-{},{},{},{}\n", name, number, amount, town,
                   i);
  }
  return out.flush();
}

Status write_bytes(uint64_t size, Output& out) {
  SplitMix64 random(kSeed);
  for (uint64_t done = 0; done < size; done += sizeof(uint64_t)) {
    const uint64_t word = random.next();
    out.block().append(reinterpret_cast<const char*>(&word),
                       std::min<uint64_t>(sizeof word, size - done));
  }
  return out.flush();
}

// FOLDER/00000 …, 1 B to 16 KiB, small ones more often.
Status write_files(uint64_t count, const std::string& folder) {
  SplitMix64 random(kSeed);
  std::string content;
  for (uint64_t i = 0; i < count; ++i) {
    content.resize(1 + random.below(uint64_t{1} << (4 + random.below(11))));
    for (char& byte : content) byte = static_cast<char>(random.next());
    Result<UniqueFd> file =
        open_file(fmt::format("{}/{:05}", folder, i), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (!file) return file.error();
    if (Status written = write_full(file->get(), content.data(), content.size()); !written) {
      return written;
    }
  }
  return {};
}

Result<uint64_t> parse_count(const char* text) {
  char* end = nullptr;
  errno = 0;
  const uint64_t value = std::strtoull(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || *text == '-') {
    return fail(ErrorCode::invalid_argument, fmt::format("not a count: {}", text));
  }
  return value;
}

int run(int argc, char** argv) {
  const std::string_view kind = argc > 2 ? argv[1] : "";
  const Result<uint64_t> count = parse_count(argc > 2 ? argv[2] : "");
  const bool files = kind == "files";
  Status status = fail(ErrorCode::invalid_argument,
                       "usage: make_data text|duplicates|numbers|csv|bytes COUNT, or "
                       "make_data files COUNT FOLDER");
  if (count && argc == (files ? 4 : 3)) {
    Output out(STDOUT_FILENO);
    if (kind == "text") status = write_text(*count, out);
    if (kind == "duplicates") status = write_duplicates(*count, out);
    if (kind == "numbers") status = write_numbers(*count, out);
    if (kind == "csv") status = write_csv(*count, out);
    if (kind == "bytes") status = write_bytes(*count, out);
    if (files) status = write_files(*count, argv[3]);
  }
  if (status) return 0;
  fmt::print(stderr, "make_data: {}\n", status.error().message);
  return 1;
}

}  // namespace
}  // namespace hoist::bench

int main(int argc, char** argv) { return hoist::bench::run(argc, argv); }
