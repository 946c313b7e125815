#include "cli/duration.h"

#include <gtest/gtest.h>

namespace hoist::cli {
namespace {

using namespace std::chrono_literals;

TEST(Duration, HasAUnit) {
  EXPECT_EQ(parse_duration("200ms"), 200ms);
  EXPECT_EQ(parse_duration("5s"), 5s);
  EXPECT_EQ(parse_duration("2min"), 2min);
  EXPECT_EQ(parse_duration("2m"), 2min);
  EXPECT_EQ(parse_duration("24h"), 24h);
  EXPECT_EQ(parse_duration("365d"), 365 * 24h);
  EXPECT_EQ(parse_duration("1.5h"), 90min);
  EXPECT_EQ(parse_duration("0s"), 0ms);
  EXPECT_EQ(parse_duration("0.25s"), 250ms);
  EXPECT_EQ(parse_duration("0.1ms"), 1ms);  // never none at all
  EXPECT_EQ(parse_duration("0.000000001d"), 1ms);
}

TEST(Duration, AllElseIsNone) {
  for (const char* wrong :
       {"", "5", "s", "-1s", " 5s", "5 s", "5S", "1e3s", "nans", "infs", "1.2.3s", ".s", "365.1d",
        "99999999999h", "5w", "5sec", "0x5s", "+5s"}) {
    EXPECT_EQ(parse_duration(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace hoist::cli
