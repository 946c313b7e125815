// Runs a fuzz target without libFuzzer: replays every file of the corpus folders named on the
// command line, then a fixed number of random mutations of them. Prints its seed.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

Bytes mutate(Bytes bytes, std::mt19937_64& random) {
  for (int step = 1 + static_cast<int>(random() % 8); step > 0; --step) {
    const size_t at = bytes.empty() ? 0 : random() % bytes.size();
    switch (random() % 5) {
      case 0:
        if (!bytes.empty()) bytes[at] ^= static_cast<uint8_t>(1u << (random() % 8));
        break;
      case 1:
        if (!bytes.empty()) bytes[at] = static_cast<uint8_t>(random());
        break;
      case 2:
        bytes.insert(bytes.begin() + static_cast<long>(at), static_cast<uint8_t>(random()));
        break;
      case 3:
        if (!bytes.empty()) bytes.erase(bytes.begin() + static_cast<long>(at));
        break;
      default:
        bytes.resize(at);
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Bytes> corpus = {{}};
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::exists(argv[i])) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
  }
  const char* seed_text = std::getenv("HOIST_FUZZ_SEED");
  const char* runs_text = std::getenv("HOIST_FUZZ_RUNS");
  const uint64_t seed = seed_text ? std::strtoull(seed_text, nullptr, 10) : std::random_device{}();
  const uint64_t runs = runs_text ? std::strtoull(runs_text, nullptr, 10) : 20000;
  std::printf("seed %llu, %zu corpus files, %llu mutations\n",
              static_cast<unsigned long long>(seed), corpus.size() - 1,
              static_cast<unsigned long long>(runs));
  std::fflush(stdout);
  std::mt19937_64 random(seed);
  for (const Bytes& bytes : corpus) LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  for (uint64_t run = 0; run < runs; ++run) {
    const Bytes bytes = mutate(corpus[random() % corpus.size()], random);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  return 0;
}
