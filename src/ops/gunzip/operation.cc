#include "ops/gunzip/operation.h"

#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "placement/program_operation.h"

namespace hoist::gunzip {
namespace {

constexpr int kLevel = 6;            // gzip's default, which most files have
constexpr size_t kSample = 1 << 20;  // bytes of text that tell how far it shrinks

// Words of a vocabulary, the earlier ones more often, which deflate halves to quarters as it does
// prose and logs.
std::string make_text(size_t bytes, std::mt19937_64& random) {
  std::vector<std::string> vocabulary(4096);
  for (std::string& word : vocabulary) {
    uint64_t letters = random();
    for (uint64_t left = 2 + letters % 9; left > 0; --left, letters /= 26) {
      word += static_cast<char>('a' + letters % 26);
    }
  }
  std::string text;
  text.reserve(bytes + 16);
  while (text.size() < bytes) {
    const uint64_t draw = random() % vocabulary.size();
    text += vocabulary[draw * (random() % vocabulary.size()) / vocabulary.size()];
    text += random() % 12 == 0 ? '\n' : ' ';
  }
  return text;
}

// One gzip member of `bytes`, within a few percent: the text is made as much longer or shorter as
// the first try shows that it must be.
Result<std::string> compressed_text(uint64_t bytes, uint64_t index) {
  std::mt19937_64 random(index);
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(kLevel), libdeflate_free_compressor);
  if (compressor == nullptr) return fail(ErrorCode::exhausted, "no memory for compressing");
  const auto compress = [&](const std::string& text) {
    std::string member(libdeflate_gzip_compress_bound(compressor.get(), text.size()), '\0');
    member.resize(libdeflate_gzip_compress(compressor.get(), text.data(), text.size(),
                                           member.data(), member.size()));
    return member;
  };
  const std::string sample = make_text(std::min<uint64_t>(4 * bytes + 64, kSample), random);
  const double ratio =
      static_cast<double>(sample.size()) / static_cast<double>(compress(sample).size());
  return compress(make_text(static_cast<size_t>(ratio * static_cast<double>(bytes)), random));
}

}  // namespace

placement::Operation operation(const std::string& engine) {
  return placement::make_program_operation(
      "gunzip", {{"gzip", "gzip", {"-dc"}, {"LC_ALL=C"}, 1, compressed_text}}, engine);
}

}  // namespace hoist::gunzip
