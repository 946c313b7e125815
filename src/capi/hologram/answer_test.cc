// No exception, whatever its kind, leaves the library: each becomes a status.
#include "capi/hologram/answer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <system_error>

namespace hoist::capi::hologram {
namespace {

struct Case {
  void (*raise)();
  hologram_status status;
  const char* message;
};

const Case kCases[] = {
    {[] { throw std::bad_alloc(); }, HOLOGRAM_EXHAUSTED, "Out of memory"},
    {[] { throw std::length_error("a vector"); }, HOLOGRAM_INTERNAL, "Internal error"},
    {[] { throw std::system_error(EAGAIN, std::generic_category(), "a lock"); }, HOLOGRAM_INTERNAL,
     "Internal error"},
    {[] { throw 1; }, HOLOGRAM_INTERNAL, "Internal error"},
};

class AnswerTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override { hologram_clear_error(); }
  void TearDown() override {
    EXPECT_EQ(hologram_last_status(), GetParam().status);
    EXPECT_STREQ(hologram_last_error(), GetParam().message);
  }
};

TEST_P(AnswerTest, OfNumbers) {
  EXPECT_EQ(give<uint64_t>([]() -> Result<uint64_t> {
              GetParam().raise();
              return uint64_t{1};
            }),
            0u);
  EXPECT_TRUE(std::isnan(give<float>([]() -> Result<float> {
    GetParam().raise();
    return 1.0f;
  })));
}

TEST_P(AnswerTest, OfText) {
  EXPECT_EQ(give_text([]() -> Result<std::string> {
              GetParam().raise();
              return std::string("text");
            }),
            nullptr);
}

TEST_P(AnswerTest, OfStatus) {
  EXPECT_EQ(done([]() -> Status {
              GetParam().raise();
              return {};
            }),
            GetParam().status);
}

TEST_P(AnswerTest, OfNothing) { dropped(GetParam().raise); }

INSTANTIATE_TEST_SUITE_P(All, AnswerTest, ::testing::ValuesIn(kCases));

TEST(AnswerStatusTest, WhatIsDoneKeepsNoError) {
  hologram_clear_error();
  dropped([] {});
  EXPECT_EQ(done([] { return Status{}; }), HOLOGRAM_OK);
  EXPECT_EQ(hologram_last_status(), HOLOGRAM_OK);
}

}  // namespace
}  // namespace hoist::capi::hologram
