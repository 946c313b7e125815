#include "takeover/programs.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

#include "base/build_id.h"
#include "cli/conformance.h"
#include "cli/program_file.h"
#include "takeover/user_table.h"

namespace hoist::cli {
namespace {

const std::string kBuildId = "00112233445566778899aabbccddeeff01234567";

// One ELF note: sizes, type, name and content, each padded to `alignment`.
std::string note(uint32_t type, std::string name, std::string content, size_t alignment) {
  const uint32_t header[3] = {static_cast<uint32_t>(name.size()),
                              static_cast<uint32_t>(content.size()), type};
  std::string bytes(reinterpret_cast<const char*>(header), sizeof header);
  bytes += name;
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
  bytes += content;
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
  return bytes;
}

std::string id_bytes() {
  std::string bytes;
  for (size_t i = 0; i < kBuildId.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(kBuildId.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

TEST(BuildId, FoundBehindOtherNotes) {
  for (const size_t alignment : {4, 8}) {
    const std::string notes = note(5, std::string("GNU\0", 4), "property", alignment) +
                              note(3, std::string("GNU\0", 4), id_bytes(), alignment);
    char hex[HOIST_BUILD_ID_HEX];
    ASSERT_TRUE(hoist_build_id_in_notes(notes.data(), notes.size(), alignment, hex));
    EXPECT_EQ(hex, kBuildId);
  }
}

TEST(BuildId, DamagedNotesAreRefused) {
  const std::string whole = note(3, std::string("GNU\0", 4), id_bytes(), 4);
  char hex[HOIST_BUILD_ID_HEX];
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    EXPECT_FALSE(hoist_build_id_in_notes(cut.data(), cut.size(), 4, hex)) << size;
  }
  for (size_t field = 0; field < 8; field += 4) {
    std::string huge = whole;
    std::memset(huge.data() + field, 0xff, 4);
    EXPECT_FALSE(hoist_build_id_in_notes(huge.data(), huge.size(), 4, hex));
  }
}

TEST(BuildId, OfThisProgramAndOfNoProgram) {
  const Result<std::string> own = read_build_id("/proc/self/exe");
  EXPECT_EQ(own.value_or("").find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(read_build_id("/etc/passwd").error().code, ErrorCode::unsupported);
  EXPECT_EQ(read_build_id("/").error().code, ErrorCode::unsupported);
  EXPECT_EQ(read_build_id("/no/such/file").error().code, ErrorCode::not_found);
}

TEST(Programs, EveryBuildIsOfAKnownProgram) {
  for (const hoist_build& build : kHoistBuilds) {
    EXPECT_NE(hoist_find_program(build.program), nullptr) << build.program;
    EXPECT_EQ(std::strlen(build.build_id), 40u);
    EXPECT_EQ(hoist_find_build(build.build_id), &build) << "listed twice: " << build.build_id;
  }
  EXPECT_EQ(operation_of("sha256sum"), "hash");
  EXPECT_EQ(operation_of("ls"), "");
}

TEST(UserTable, Lines) {
  hoist_user_build build;
  EXPECT_TRUE(hoist_parse_user_build((kBuildId + " sort coreutils 9.4\n").c_str(), &build));
  EXPECT_STREQ(build.program, "sort");
  EXPECT_STREQ(build.package, "coreutils");
  EXPECT_STREQ(build.version, "9.4");
  for (const std::string& line :
       {std::string(), std::string("# comment"), kBuildId, kBuildId + " sort coreutils",
        kBuildId + " sort coreutils 9.4 more", kBuildId + " ls coreutils 9.4",
        kBuildId + " sort core:utils 9.4", std::string("XYZ sort coreutils 9.4"),
        kBuildId + kBuildId + " sort coreutils 9.4",
        kBuildId + " sort coreutils " + std::string(40, '9')}) {
    EXPECT_FALSE(hoist_parse_user_build(line.c_str(), &build)) << line;
  }
}

class UserTableFile : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(directory_), nullptr);
    ::setenv("XDG_DATA_HOME", directory_, 1);
  }
  void TearDown() override {
    ::unlink(table().c_str());
    ::rmdir((std::string(directory_) + "/hoist").c_str());
    ::rmdir(directory_);
    ::unsetenv("XDG_DATA_HOME");
  }
  std::string table() const { return std::string(directory_) + "/hoist/programs"; }

 private:
  char directory_[32] = "/tmp/hoist-table-XXXXXX";
};

TEST_F(UserTableFile, LearnsAndReplaces) {
  EXPECT_FALSE(find_build(kBuildId));
  ASSERT_TRUE(learn_build(kBuildId, {"sort", "coreutils", "9.3"}));
  ASSERT_TRUE(learn_build(std::string(40, 'a'), {"gzip", "gzip", "1.13"}));
  ASSERT_TRUE(learn_build(kBuildId, {"sort", "coreutils", "9.4"}));
  const std::optional<KnownBuild> build = find_build(kBuildId);
  ASSERT_TRUE(build);
  EXPECT_EQ(build->program, "sort");
  EXPECT_EQ(build->version, "9.4");
  EXPECT_TRUE(build->learnt);
  EXPECT_TRUE(find_build(std::string(40, 'a')));
  EXPECT_FALSE(learn_build(kBuildId, {"ls", "coreutils", "9.4"}));
  EXPECT_FALSE(learn_build(kBuildId, {"sort", "coreutils", "9.4 beta"}));
}

TEST_F(UserTableFile, IgnoredWhereOthersMayWrite) {
  ASSERT_TRUE(learn_build(kBuildId, {"sort", "coreutils", "9.4"}));
  ASSERT_EQ(::chmod(table().c_str(), 0620), 0);
  EXPECT_FALSE(find_build(kBuildId));
}

TEST_F(UserTableFile, SkipsLinesThatAreTooLong) {
  ASSERT_TRUE(learn_build(std::string(40, 'b'), {"sort", "coreutils", "9.4"}));
  std::ofstream(table(), std::ios::app) << std::string(5000, 'x') << "\n"
                                        << kBuildId << " b2sum coreutils 9.4\n";
  EXPECT_EQ(find_build(kBuildId)->program, "b2sum");
}

TEST(Conformance, EveryProgramHasAMatrix) {
  for (const hoist_program& program : kHoistPrograms) {
    const ConformanceMatrix matrix = conformance_matrix(program.name);
    EXPECT_GE(matrix.cases.size(), 25u) << program.name;
    for (const ConformanceCase& one : matrix.cases) {
      EXPECT_NE(one.locale, "");
    }
  }
  EXPECT_TRUE(conformance_matrix("ls").cases.empty());
}

// The original in the engine's place must agree with itself, or the matrix is at fault.
TEST(Conformance, TheOriginalAgreesWithItself) {
  for (const auto& [program, package] : {std::pair("sha256sum", "coreutils"), {"gzip", "gzip"}}) {
    const std::string path = std::string("/usr/bin/") + program;
    if (::access(path.c_str(), X_OK) != 0) continue;
    const auto results = check_conformance({path, {program, package, ""}, path});
    ASSERT_TRUE(results) << results.error().message;
    for (const CaseResult& result : *results) {
      EXPECT_EQ(result.difference, "") << result.command;
      EXPECT_FALSE(result.by_engine);
    }
  }
}

TEST(Conformance, ADifferenceIsFound) {
  if (::access("/usr/bin/md5sum", X_OK) != 0) GTEST_SKIP() << "no md5sum";
  const auto results =
      check_conformance({"/usr/bin/sha1sum", {"sha1sum", "coreutils", ""}, "/usr/bin/md5sum"});
  ASSERT_TRUE(results) << results.error().message;
  size_t different = 0;
  for (const CaseResult& result : *results) different += result.difference.empty() ? 0 : 1;
  EXPECT_GT(different, results->size() / 2);
}

}  // namespace
}  // namespace hoist::cli
