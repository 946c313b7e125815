// Every size around the borders of the algorithm, in one piece and in many, against the xxHash
// library as it was packaged.
#include "base/checksum.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <random>
#include <string>

namespace hoist {
namespace {

TEST(Xxh3, IsTheLibrarysInOnePieceAndInMany) {
  std::mt19937_64 random(std::random_device{}());
  std::string bytes(300'000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (size_t size = 0; size <= bytes.size(); size += size < 2100 ? 1 : 1 + random() % 20'000) {
    const char* data = bytes.data() + random() % std::min<size_t>(bytes.size() - size + 1, 64);
    const uint64_t expected = XXH3_64bits(data, size);
    ASSERT_EQ(xxh3_64(data, size), expected) << size;
    Xxh3 stream;
    for (size_t done = 0; done < size;) {
      const size_t step = std::min(size - done, random() % (2 + size));
      stream.update(data + done, step);
      done += step;
    }
    ASSERT_EQ(stream.finish(), expected) << size;
    ASSERT_EQ(stream.finish(), expected) << size;
  }
}

}  // namespace
}  // namespace hoist
