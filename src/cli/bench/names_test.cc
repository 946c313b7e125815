#include "cli/bench/names.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

namespace hoist::cli {
namespace {

using Names = std::vector<std::string>;

TEST(BenchNames, PeersAreParsed) {
  const std::optional<PeerName> whole = parse_peer("codec/parity/peer:isal");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->before, "codec/parity");
  EXPECT_EQ(whole->peer, "isal");
  EXPECT_EQ(whole->after, "");
  const std::optional<PeerName> part = parse_peer("codec/unpack/peer/memcpy/u32/cache");
  ASSERT_TRUE(part);
  EXPECT_EQ(part->before, "codec/unpack");
  EXPECT_EQ(part->peer, "memcpy");
  EXPECT_EQ(part->after, "u32/cache");
  EXPECT_FALSE(parse_peer("codec/parity/encode"));
  EXPECT_FALSE(parse_peer("codec/peers/encode"));
}

TEST(BenchNames, NearestPeersAreFound) {
  const Names names = {"codec/peer:far",           "codec/parity/encode/4+2",
                       "codec/parity/peer:b/4+2",  "codec/parity/peer:b/10+4",
                       "codec/parity/decode/10+4", "codec/parity/peer:c/10+4",
                       "codec/planes/split",       "placement/choose"};
  EXPECT_EQ(peers_of(1, names), (std::vector<size_t>{2}));
  EXPECT_EQ(peers_of(4, names), (std::vector<size_t>{3, 5}));
  EXPECT_EQ(peers_of(6, names), (std::vector<size_t>{0}));
  EXPECT_TRUE(peers_of(7, names).empty());
  EXPECT_TRUE(peers_of(2, names).empty());
}

TEST(BenchNames, SelectionTakesPeersAlong) {
  const Names names = {"codec/a/x", "codec/a/peer:p", "codec/b/x", "container/a/x"};
  EXPECT_EQ(select_benchmarks(names, {}, std::regex("a/x$")),
            (Names{"codec/a/x", "codec/a/peer:p", "container/a/x"}));
  const Names codec = {"codec"};
  EXPECT_EQ(select_benchmarks(names, codec, std::regex("")),
            (Names{"codec/a/x", "codec/a/peer:p", "codec/b/x"}));
  EXPECT_TRUE(select_benchmarks(names, codec, std::regex("nothing")).empty());
}

TEST(BenchNames, PatternMatchesTheNamesOnly) {
  const Names names = {"codec/parity/10+4 (1%)", "a.b/c*"};
  const std::regex pattern(pattern_of(names));
  for (const std::string& name : names) EXPECT_TRUE(std::regex_search(name, pattern));
  for (const char* other : {"codec/parity/10+4 (1%)x", "xa.b/c*", "aXb/c*", "a.b/cc", ""}) {
    EXPECT_FALSE(std::regex_search(other, pattern)) << other;
  }
}

}  // namespace
}  // namespace hoist::cli
