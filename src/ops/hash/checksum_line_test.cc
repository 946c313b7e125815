#include "ops/hash/checksum_line.h"

#include <gtest/gtest.h>

namespace hoist::hash {
namespace {

const std::string kMd5 = "0cc175b9c0f1b6a831c399e269772661";
const std::string kSha1 = "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8";

ChecksumLineParser md5_parser(Dialect dialect = Dialect::classic) {
  return ChecksumLineParser(Algorithm::md5, false, dialect);
}

// The name and the digest of a line that a fresh parser accepts, or "malformed".
std::string parse(ChecksumLineParser parser, std::string_view line) {
  const auto parsed = parser.parse(line);
  return parsed ? parsed->name + "|" + parsed->expected.hex() : "malformed";
}
std::string md5(std::string_view line) { return parse(md5_parser(), line); }

TEST(ChecksumLine, Untagged) {
  const std::string a = "a|" + kMd5;
  EXPECT_EQ(md5(kMd5 + "  a"), a);
  EXPECT_EQ(md5(kMd5 + " *a"), a);
  EXPECT_EQ(md5(kMd5 + " a"), a);
  EXPECT_EQ(md5(kMd5 + "\ta"), a);
  EXPECT_EQ(md5(kMd5 + "\t a"), a);
  EXPECT_EQ(md5(" \t" + kMd5 + "  a"), a);
  EXPECT_EQ(md5("0CC175B9C0F1B6A831C399E269772661  a"), a);
  EXPECT_EQ(md5(kMd5 + " *"), "*|" + kMd5);
  EXPECT_EQ(md5(kMd5 + "   a"), " a|" + kMd5);
  for (const std::string& line : {std::string(), std::string(" "), kMd5, kMd5 + " ", kMd5 + "0  a",
                                  kMd5.substr(1) + "  a", "x" + kMd5 + "  a", kMd5 + "\v a"}) {
    EXPECT_EQ(md5(line), "malformed") << line;
  }
}

TEST(ChecksumLine, Tagged) {
  const std::string a = "a|" + kMd5;
  EXPECT_EQ(md5("MD5 (a) = " + kMd5), a);
  EXPECT_EQ(md5("MD5(a)= " + kMd5), a);
  EXPECT_EQ(md5("  MD5 (a)\t=\t" + kMd5), a);
  EXPECT_EQ(md5("MD5 (a) (b) = " + kMd5), "a) (b|" + kMd5);
  EXPECT_EQ(md5("MD5 () = " + kMd5), "|" + kMd5);
  for (const char* line : {"MD5", "MD5 (", "MD5 ()", "MD5 (a) =", "MD5 (a) = 0c"}) {
    EXPECT_EQ(md5(line), "malformed") << line;
  }
  for (const std::string& line : {"SHA1 (a) = " + kSha1, "MD5  (a) = " + kMd5, "MD5x(a) = " + kMd5,
                                  "MD5-128 (a) = " + kMd5, "MD5 (a) = " + kMd5 + " "}) {
    EXPECT_EQ(md5(line), "malformed") << line;
  }
}

TEST(ChecksumLine, EscapedNames) {
  EXPECT_EQ(md5("\\" + kMd5 + "  n\\nl\\\\\\r"), "n\nl\\\r|" + kMd5);
  EXPECT_EQ(md5("\\MD5 (n\\nl) = " + kMd5), "n\nl|" + kMd5);
  EXPECT_EQ(md5(kMd5 + "  n\\nl"), "n\\nl|" + kMd5);
  EXPECT_EQ(md5("\\" + kMd5 + "  a\\x"), "malformed");
  EXPECT_EQ(md5("\\" + kMd5 + "  a\\"), "malformed");
  EXPECT_EQ(md5("\\" + kMd5 + std::string("  a\0b", 5)), "malformed");
}

TEST(ChecksumLine, NulBytes) {
  const std::string a = "a|" + kMd5;
  const std::string nul(1, '\0');
  EXPECT_EQ(md5(kMd5 + "  a" + nul + "b"), a);
  EXPECT_EQ(md5("MD5 (a) = " + kMd5 + nul + "x"), a);
  EXPECT_EQ(parse(md5_parser(Dialect::modern), "MD5 (a) = " + kMd5 + nul), "malformed");
  EXPECT_EQ(md5(kMd5 + nul + "  a"), "malformed");
  EXPECT_EQ(parse(md5_parser(Dialect::modern), kMd5 + nul + " a"), a);
}

TEST(ChecksumLine, FirstUntaggedLineSettlesTheOrder) {
  ChecksumLineParser reversed = md5_parser();
  EXPECT_EQ(reversed.parse(kMd5 + " a")->name, "a");
  EXPECT_EQ(reversed.parse(kMd5 + "  a")->name, " a");
  ChecksumLineParser standard = md5_parser();
  EXPECT_EQ(standard.parse(kMd5 + "  a")->name, "a");
  EXPECT_FALSE(standard.parse(kMd5 + " a"));
}

TEST(ChecksumLine, Blake2bLengths) {
  const auto parse_b2 = [](std::string_view line) {
    return parse(ChecksumLineParser(Algorithm::blake2b, false, Dialect::classic), line);
  };
  EXPECT_EQ(parse_b2("BLAKE2b-8 (a) = de"), "a|de");
  EXPECT_EQ(parse_b2("BLAKE2b- +010 (a) = de"), "a|de");
  EXPECT_EQ(parse_b2("BLAKE2b-0x8 (a) = de"), "a|de");
  EXPECT_EQ(parse_b2("1e1b  a"), "a|1e1b");
  EXPECT_EQ(parse_b2("de "), "|de");
  for (const char* line : {"BLAKE2b-0 (a) = de", "BLAKE2b-9 (a) = de", "BLAKE2b--8 (a) = de",
                           "BLAKE2b-520 (a) = de", "BLAKE2b-8x (a) = de", "BLAKE2b (a) = de",
                           "BLAKE2b-99999999999999999999 (a) = de", "d  a", "de0  a", "de"}) {
    EXPECT_EQ(parse_b2(line), "malformed") << line;
  }
}

TEST(ChecksumLine, DetectsTheAlgorithm) {
  ChecksumLineParser parser(std::nullopt, true, Dialect::classic);
  EXPECT_FALSE(parser.parse(kMd5 + "  a"));
  EXPECT_EQ(parser.algorithm(), Algorithm::crc);
  EXPECT_EQ(parser.parse("SHA1 (a) = " + kSha1)->kind, (DigestKind{Algorithm::sha1, 20}));
  EXPECT_FALSE(parser.parse("SHA2 (a) = " + kSha1));
  EXPECT_FALSE(parser.parse("CRC (a) = 1"));
  EXPECT_EQ(parser.algorithm(), Algorithm::sha1);
  EXPECT_FALSE(parser.parse("MD5"));
  EXPECT_EQ(parser.algorithm(), Algorithm::md5);
  EXPECT_EQ(parser.parse("BLAKE2b-16 (a) = 1e1b")->kind, (DigestKind{Algorithm::blake2b, 2}));
}

TEST(ChecksumLine, CksumTakesALengthAfterAnyTag) {
  ChecksumLineParser parser(Algorithm::sha1, true, Dialect::classic);
  const std::string line = "86f7  " + std::string(50, 'n');
  EXPECT_FALSE(parser.parse(line));
  const auto tagged = parser.parse("SHA1-16 (a) = 86f7");
  ASSERT_TRUE(tagged);
  EXPECT_EQ(tagged->kind, (DigestKind{Algorithm::sha1, 20}));
  EXPECT_EQ(tagged->expected.size, 2u);
  EXPECT_TRUE(parser.parse(line));
  EXPECT_FALSE(parser.parse("SHA1-168 (a) = " + kSha1 + "00"));
}

}  // namespace
}  // namespace hoist::hash
