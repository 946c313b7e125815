#include "base/count_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace hoist {
namespace {

TEST(CountBytes, IsTheSameAsOneByOne) {
  std::mt19937 random(7);
  for (size_t size : {0, 1, 15, 16, 17, 255, 4079, 4080, 4081, 4096, 100'000}) {
    for (const int values : {1, 2, 256}) {
      std::string text(size + 3, '\0');
      for (char& c : text) c = static_cast<char>(random() % static_cast<unsigned>(values));
      for (size_t offset = 0; offset < 3; ++offset) {
        const std::string_view part = std::string_view(text).substr(offset, size);
        for (const char wanted : {'\0', '\1', '\n', '\xff'}) {
          EXPECT_EQ(count_bytes(part, wanted),
                    static_cast<uint64_t>(std::count(part.begin(), part.end(), wanted)));
        }
      }
    }
  }
}

}  // namespace
}  // namespace hoist
