// Numbers as the kernels make them, beside what their texts read as.
#include "records/gpu/output_values.h"

#include <gtest/gtest.h>

#include <charconv>
#include <random>
#include <string_view>

#include "base/test_seed.h"
#include "records/number_text.h"

namespace hoist::records {
namespace {

TEST(NearestQuotient, IsWhatTheTextReadsAs) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 200000; ++i) {
    const uint64_t value = random() >> random() % 64 >> 1;
    const auto scale = static_cast<uint8_t>(random() % 19);
    NumberForm form;
    form.type = NumberType::decimal;
    form.scale = scale;
    char text[kMaxNumberBytes];
    const char* const end = render_number(form, static_cast<int64_t>(value), 0, text);
    double expected = 0;
    std::from_chars(text, end, expected);
    ASSERT_EQ(nearest_quotient(value, scale), expected) << std::string_view(text, end);
    ASSERT_EQ(real_of(-static_cast<int64_t>(value), scale), 0 - expected);
  }
  EXPECT_EQ(real_of(INT64_MIN, 0), -0x1p63);
  EXPECT_EQ(nearest_quotient(UINT64_MAX, 0), 0x1p64);
}

}  // namespace
}  // namespace hoist::records
