#include "tensors/name_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace hoist::tensors {
namespace {

struct Named {
  std::string name;
};

TEST(NameIndexTest, EmptyHasNothing) {
  const NameIndex index;
  EXPECT_EQ(index.find(std::vector<Named>(), ""), std::nullopt);
}

TEST(NameIndexTest, AnyBytesAreAName) {
  const std::vector<Named> tensors = {{""},
                                      {std::string(1, '\0')},
                                      {std::string(5000, 'x')},
                                      {std::string(5001, 'x')},
                                      {"\xff\xfe"}};
  NameIndex index;
  for (size_t i = 0; i < tensors.size(); ++i) EXPECT_TRUE(index.add(tensors, i));
  for (size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(index.find(tensors, tensors[i].name), i);
  }
  EXPECT_EQ(index.find(tensors, std::string(2, '\0')), std::nullopt);
}

// Against a map, over every size at which the table grows, with names that come again; the vector
// moves its short names as it grows.
TEST(NameIndexTest, AgreesWithMap) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::vector<Named> tensors;
  NameIndex index;
  std::map<std::string, size_t> oracle;
  for (int step = 0; step < 20000; ++step) {
    const std::string name = "t" + std::to_string(random() % 15000);
    tensors.push_back({name});
    const bool is_new = oracle.try_emplace(name, tensors.size() - 1).second;
    ASSERT_EQ(index.add(tensors, tensors.size() - 1), is_new);
    if (!is_new) tensors.pop_back();
    const std::string sought = "t" + std::to_string(random() % 15000);
    const auto known = oracle.find(sought);
    ASSERT_EQ(index.find(tensors, sought),
              known == oracle.end() ? std::nullopt : std::optional(known->second));
  }
  const NameIndex copy = index;
  for (const auto& [name, number] : oracle) ASSERT_EQ(copy.find(tensors, name), number);
}

}  // namespace
}  // namespace hoist::tensors
