#include "ops/gunzip/options.h"

#include <gtest/gtest.h>

#include "ops/gunzip/file_name.h"
#include "ops/gunzip/listing.h"

namespace hoist::gunzip {
namespace {

TEST(GunzipOptions, UnderstandsBundlesLongNamesAndOperands) {
  const ParsedOptions parsed =
      parse_options("gzip", {"gzip", "a.gz", "-dkvN", "--suffix=.x", "--", "-b.gz"});
  EXPECT_TRUE(parsed.unsupported.empty());
  const Options& options = parsed.options;
  EXPECT_TRUE(options.keep && options.verbose && options.restore_name && !options.to_stdout);
  EXPECT_EQ(options.suffix, ".x");
  EXPECT_EQ(options.operands, (std::vector<std::string>{"a.gz", "-b.gz"}));
  EXPECT_TRUE(parse_options("gzip", {"gzip", "-tqv"}).options.verbose);
  EXPECT_TRUE(parse_options("gzip", {"gzip", "-tvq"}).options.quiet);
  EXPECT_TRUE(parse_options("gzip", {"gzip", "--li"}).unsupported.size());  // list or license
  EXPECT_TRUE(parse_options("zcat", {"zcat"}).options.to_stdout);
  EXPECT_TRUE(parse_options("gunzip", {"gunzip", "a.gz"}).unsupported.empty());
}

TEST(GunzipOptions, LeavesTheRestToTheOriginal) {
  const std::vector<std::vector<std::string>> cases = {
      {"gzip", "a"},         {"gzip", "-k9", "a"},   {"gzip", "-dh"},      {"gzip", "-dV"},
      {"gzip", "-dff"},      {"gzip", "-dvv"},       {"gzip", "-dS", ""},  {"gzip", "-dS", "/a"},
      {"gzip", "-dS", ".A"}, {"gzip", "-d", "--xx"}, {"gzip", "-d", "-S"}, {"gzip", "-da"},
      {"gunzip", "a.gz"}};
  for (const auto& argv : cases) {
    EXPECT_FALSE(parse_options("gzip", argv).unsupported.empty()) << argv.back();
  }
}

TEST(GunzipOptions, CanBeSaidAgain) {
  const std::vector<std::string> argv = {"gzip", "-cdfkqrN", "-S", ".x", "a", "b"};
  const Options options = parse_options("gzip", argv).options;
  const std::vector<std::string> again = to_arguments("gzip", options, {"-c"});
  const ParsedOptions parsed = parse_options("gzip", again);
  EXPECT_TRUE(parsed.unsupported.empty());
  EXPECT_EQ(to_arguments("gzip", parsed.options, parsed.options.operands), again);
  EXPECT_EQ(parsed.options.operands, (std::vector<std::string>{"-c"}));
}

TEST(GunzipNames, StripSuffixes) {
  EXPECT_EQ(uncompressed_name("a.gz", ".gz"), "a");
  EXPECT_EQ(uncompressed_name("d/a.TGZ", ".gz"), "d/a.tar");
  EXPECT_EQ(uncompressed_name("a.taz", ".gz"), "a.tar");
  EXPECT_EQ(uncompressed_name("a.Z", ".gz"), "a");
  EXPECT_EQ(uncompressed_name("a_z", ".gz"), "a");
  EXPECT_EQ(uncompressed_name("a.foo", ".foo"), "a");
  EXPECT_EQ(uncompressed_name("a.foo", ".gz"), std::nullopt);
  EXPECT_EQ(uncompressed_name("d/.gz", ".gz"), std::nullopt);
  EXPECT_EQ(uncompressed_name(".gz", ".gz"), std::nullopt);
}

TEST(GunzipNames, AreRestoredBesideTheFile) {
  EXPECT_EQ(restored_name("d/a.gz", "b"), "d/b");
  EXPECT_EQ(restored_name("a.gz", "../../etc/passwd"), "passwd");
  for (const char* name : {"", ".", "..", "/", "a/", "x/.."}) {
    EXPECT_EQ(restored_name("a.gz", name), std::nullopt) << name;
  }
  EXPECT_EQ(restored_name("a.gz", std::string(300, 'x')), std::nullopt);
  EXPECT_EQ(last_component("/usr/bin/gzip"), "gzip");
  EXPECT_EQ(last_component("a/b/"), "b/");
}

TEST(GunzipListing, AddsUp) {
  Listing listing(false, false);
  listing.set_overhead(24);
  listing.add({.compressed = 61, .uncompressed = 51, .name = "t.txt"});
  listing.add_totals();
  EXPECT_EQ(listing.text(),
            "         compressed        uncompressed  ratio uncompressed_name\n"
            "                 61                  51  27.5% t.txt\n"
            "                 61                  51  27.5% (totals)\n");
  EXPECT_EQ(format_ratio(10, 0, 0), "  0.0%");
  EXPECT_EQ(format_ratio(122, 51, 0), "-139.2%");
}

}  // namespace
}  // namespace hoist::gunzip
