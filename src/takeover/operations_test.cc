#include "takeover/operations.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/option_values.h"
#include "base/options.h"
#include "takeover/decisions.h"
#include "takeover/enabled_operations.h"
#include "takeover/programs.h"
#include "takeover/takeover.h"

namespace hoist {
namespace {

// Each row of the table leads to others, and no two are alike.
TEST(Operations, TheTableAgreesWithItself) {
  std::set<std::string> names;
  for (int id = 0; id < HOIST_OPERATIONS; ++id) {
    const hoist_operation& operation = hoist_operations[id];
    EXPECT_TRUE(names.insert(operation.name).second) << operation.name;
    EXPECT_EQ(find_operation(operation.name), hoist_operation_id(id));
    EXPECT_TRUE(hoist_is_operation(operation.name, hoist_operation_id(id)));
    EXPECT_EQ(operation.way == HOIST_WAY_PROGRAM, operation.trouble != 0) << operation.name;
  }
  EXPECT_EQ(find_operation("sor"), std::nullopt);
  EXPECT_EQ(find_operation(""), std::nullopt);
  std::set<hoist_operation_id> with_program;
  for (const hoist_program& program : kHoistPrograms) {
    EXPECT_EQ(hoist_operations[program.operation].way, HOIST_WAY_PROGRAM) << program.name;
    with_program.insert(program.operation);
  }
  EXPECT_EQ(with_program.size(), 3u);
  for (const hoist_build& build : kHoistBuilds) {
    EXPECT_NE(hoist_find_program(build.program), nullptr) << build.program;
  }
}

TEST(Operations, ListsSelect) {
  const auto enabled = [](const char* list, hoist_operation_id operation) {
    ::setenv("HOIST_OPS", list, 1);
    const bool result = operation_enabled(operation);
    EXPECT_EQ(operation_enabled(hoist_operations[operation].name), result);
    ::unsetenv("HOIST_OPS");
    return result;
  };
  EXPECT_TRUE(enabled("", HOIST_SORT));
  EXPECT_FALSE(enabled("", HOIST_MEMCPY));
  EXPECT_TRUE(enabled("sort,hash", HOIST_HASH));
  EXPECT_FALSE(enabled("sort,hash", HOIST_GUNZIP));
  EXPECT_TRUE(enabled("+memcpy", HOIST_MEMCPY));
  EXPECT_TRUE(enabled("+memcpy", HOIST_SORT));
  EXPECT_FALSE(enabled("-sort", HOIST_SORT));
  EXPECT_TRUE(enabled("srot", HOIST_SORT));  // as if it were not there
  EXPECT_FALSE(enabled("+memcyp", HOIST_MEMCPY));
  EXPECT_TRUE(enabled("srot,hash", HOIST_HASH));
  EXPECT_FALSE(enabled("srot,hash", HOIST_SORT));
  EXPECT_TRUE(enabled(",,sort,", HOIST_SORT));
  EXPECT_EQ(unknown_operation("sort,+hash,-gunzip"), std::nullopt);
  EXPECT_EQ(unknown_operation("sort,+hush"), "hush");
  EXPECT_EQ(unknown_operation("sort,fft"), "fft");  // not in this version
}

TEST(Operations, ValuesThatMeanNothingAreSaidAndLeftOut) {
  const auto said = [](const char* name, const char* value) {
    ::setenv(name, value, 1);
    const std::vector<std::string> lines = unusable_values();
    ::unsetenv(name);
    return lines.empty() ? std::string() : lines.front();
  };
  EXPECT_EQ(said("HOIST_OPS", "sort,-srot"),
            "no operation srot (HOIST_OPS): it is left out, `hoist options` lists them");
  for (const char* number :
       {"abc", "4x", "0", "-1", "1.5", "2 3", "+", " ", "99999999999999999999"}) {
    EXPECT_NE(said("HOIST_THREADS", number).find(std::string(number) + " is no whole number"),
              std::string::npos)
        << number;
    EXPECT_NE(said("HOIST_GEMM_DEVICES", number), "") << number;
  }
  for (const char* share : {"x", "-0.1", "nan", "0,5", "0.5x"}) {
    EXPECT_NE(said("HOIST_VERIFY", share), "") << share;
  }
  EXPECT_NE(said("HOIST", "of"), "");
  EXPECT_NE(said("HOIST_GPU", "cuda"), "");
  EXPECT_NE(said("HOIST_LOG", "warning"), "");
  EXPECT_NE(said("HOIST_GEMM_PRECISION", "half"), "");
  EXPECT_NE(said("HOIST_GEMM_SMALLEST", "1e9"), "");
  for (const auto& [name, value] :
       {std::pair("HOIST", "OFF"), std::pair("HOIST", "1"), std::pair("HOIST_GPU", "Require"),
        std::pair("HOIST_OPS", "sort,+aes,-hash"), std::pair("HOIST_LOG", "debug"),
        std::pair("HOIST_VERIFY", "1"), std::pair("HOIST_VERIFY", "1e-3"),
        std::pair("HOIST_VERIFY", "100"), std::pair("HOIST_THREADS", " +4 "),
        std::pair("HOIST_THREADS", "4"), std::pair("HOIST_GEMM_DEVICES", "2"),
        std::pair("HOIST_GEMM_PRECISION", "tf32"), std::pair("HOIST_GEMM_SMALLEST", "0"),
        std::pair("HOIST_THREADS", ""), std::pair("HOIST_PROFILE", "anything")}) {
    EXPECT_EQ(said(name, value), "") << name << "=" << value;
  }
  ::setenv("HOIST_THREADS", "4x", 1);
  EXPECT_EQ(option_number(OptionId::threads), std::nullopt);
  ::setenv("HOIST_THREADS", " +4 ", 1);
  EXPECT_EQ(option_number(OptionId::threads), 4u);
  ::unsetenv("HOIST_THREADS");
  ::setenv("HOIST_VERIFY", "100", 1);
  EXPECT_EQ(verification_rate(), 1);
  ::unsetenv("HOIST_VERIFY");
}

TEST(Takeover, ReadsTheEnvironmentOnce) {
  ::setenv("HOIST_TAKEOVER", "sort:coreutils:9.1:/opt/a:b/sort", 1);
  char name[] = "./sort";
  char* argv[] = {name, nullptr};
  const Takeover takeover = begin_takeover(1, argv, "sort");
  EXPECT_EQ(takeover.program, "sort");
  EXPECT_EQ(takeover.version, "9.1");
  EXPECT_EQ(takeover.original_path, "/opt/a:b/sort");
  EXPECT_EQ(takeover.argv, std::vector<std::string>{"./sort"});
  EXPECT_EQ(std::getenv("HOIST_TAKEOVER"), nullptr);
}

}  // namespace
}  // namespace hoist
