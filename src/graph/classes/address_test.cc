#include "graph/classes/address.h"

#include <gtest/gtest.h>

namespace hoist::graph {
namespace {

TEST(BeltAddresses, BothWays) {
  for (size_t offset = 0; offset < BeltAddress::kBytes; ++offset) {
    const BeltAddress at = BeltAddress::at(offset).value();
    ASSERT_LT(at.page, BeltAddress::kPages);
    ASSERT_EQ(at.offset(), offset);
  }
  EXPECT_EQ(BeltAddress::at(1024).value(), (BeltAddress{4, 0}));
  EXPECT_EQ(BeltAddress::at(12287).value(), (BeltAddress{47, 255}));
  EXPECT_EQ((BeltAddress{17, 0x5a}.offset()), 4442u);
  EXPECT_EQ(BeltAddress::at(12288).error().code, ErrorCode::invalid_argument);
}

TEST(PhiAddresses, BothWays) {
  for (size_t offset = 0; offset < PhiAddress::kBytes; ++offset) {
    const PhiAddress at = PhiAddress::at(offset).value();
    ASSERT_EQ(at.offset(), offset);
    ASSERT_EQ(PhiAddress::in_class(at.index, at.within.offset()).value(), at);
  }
  EXPECT_EQ(PhiAddress::in_class(95, 12287).value().offset(), PhiAddress::kBytes - 1);
  EXPECT_EQ(PhiAddress::in_class(42, 1024).value(), (PhiAddress{42, {4, 0}}));
}

TEST(PhiAddresses, OutsideIsRefused) {
  EXPECT_EQ(PhiAddress::in_class(96, 0).error().message, "no class 96: give one from 0 to 95");
  EXPECT_EQ(PhiAddress::in_class(0, 12288).error().message,
            "no byte 12288 in a class: give one from 0 to 12287");
  EXPECT_EQ(PhiAddress::at(PhiAddress::kBytes).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace hoist::graph
