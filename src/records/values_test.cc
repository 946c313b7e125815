// Arrays of values against the texts that they were made from.
#include "records/values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "base/test_seed.h"
#include "records/block.h"
#include "records/date_text.h"
#include "records/records_testing.h"

namespace hoist::records {
namespace {

// The only column of a file with a value a line.
std::shared_ptr<const DecodedColumn> column_of(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += value + "\n";
  const std::string stored =
      encode_block(text, {.format = Format::csv, .delimiter = '\t'}, Effort::usual);
  const Result<Block> block = Block::open(bytes_of(stored), text.size());
  EXPECT_TRUE(block);
  EXPECT_EQ(block->columns().size(), 1u);
  const Result<ColumnValues> read = block->read(0);
  EXPECT_TRUE(read);
  const TextValues again = texts(*read->column);
  EXPECT_EQ(again.offsets.size(), values.size() + 1);
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string_view value(again.bytes.data() + again.offsets[i],
                                 again.offsets[i + 1] - again.offsets[i]);
    EXPECT_EQ(value, values[i]);
  }
  return read->column;
}

TEST(Values, Integers) {
  const std::vector<std::string> written = {"0", "-5", "9223372036854775807",
                                            "-9223372036854775808"};
  const auto held = column_of(written);
  const DecodedColumn& column = *held;
  EXPECT_EQ(value_type(column), ValueType::integer);
  EXPECT_EQ(integers(column).value(), (std::vector<int64_t>{0, -5, INT64_MAX, INT64_MIN}));
  EXPECT_EQ(integers(*column_of({"7", "7", "7"})).value(), (std::vector<int64_t>{7, 7, 7}));
  EXPECT_EQ(value_type(*column_of({"68a128dc", "68a12918"})), ValueType::text);
  EXPECT_EQ(value_type(*column_of({"0012", "0345"})), ValueType::text);
  EXPECT_EQ(value_type(*column_of({"a", "b"})), ValueType::text);
  EXPECT_FALSE(integers(*column_of({"1.5", "2.5"})));
}

TEST(Values, RealsAreThoseThatTheLibraryReads) {
  std::mt19937_64 random(test_seed());
  std::vector<std::string> written;
  char text[64];
  for (int i = 0; i < 3000; ++i) {
    const int places = static_cast<int>(random() % 12);
    std::snprintf(text, sizeof text, "%.*f", places, (static_cast<double>(random()) - 9e18) / 1e15);
    written.emplace_back(text);
  }
  written.emplace_back("1e300");
  const auto held = column_of(written);
  const DecodedColumn& column = *held;
  const std::vector<double> values = reals(column);
  for (size_t i = 0; i < written.size(); ++i) {
    ASSERT_EQ(values[i], std::strtod(written[i].c_str(), nullptr)) << written[i];
  }
}

TEST(Values, NumbersBeyondDoublesAreInfinitiesAndZeros) {
  const std::vector<std::string> written = {"1.5", "1e999", "-1e999", "1e-400", "-1e-400", "2.5"};
  for (const bool constant : {false, true}) {
    for (const std::string& text : written) {
      const auto held = column_of(constant ? std::vector<std::string>(8, text) : written);
      const std::vector<double> values = reals(*held);
      for (size_t i = 0; i < values.size(); ++i) {
        const std::string& each = constant ? text : written[i];
        EXPECT_EQ(values[i], std::strtod(each.c_str(), nullptr)) << each;
      }
    }
  }
}

TEST(Values, NothingIsNoNumber) {
  const auto held = column_of({"1.5", "2.5", "null", "3.5", "4.5", "5.5", "6.5", "7.5"});
  const DecodedColumn& column = *held;
  EXPECT_EQ(value_type(column), ValueType::real);
  EXPECT_TRUE(std::isnan(reals(column)[2]));
  EXPECT_EQ(reals(column)[3], 3.5);
  EXPECT_EQ(value_type(*column_of({"1", "2", "x", "3", "4", "5", "6", "7"})), ValueType::text);
  EXPECT_EQ(value_type(*column_of({"0.30000000000000004", "1e300", "-1E-5", ""})), ValueType::real);
  EXPECT_EQ(reals(*column_of({"0.30000000000000004", "1e300", "-1E-5", ""}))[0],
            0.30000000000000004);
  for (const char* odd : {"1.", ".5", "+1", "007", "1e", "1e+", "-", "0x10", "inf", "1 "}) {
    EXPECT_EQ(value_type(*column_of({"1.5", odd})), ValueType::text) << odd;
  }
  EXPECT_EQ(value_type(*column_of({"", "null"})), ValueType::text);
  EXPECT_EQ(value_type(*column_of({"10.0.0.1", "10.0.0.2"})), ValueType::text);
  EXPECT_EQ(value_type(*column_of({"2024-01-31", "2024-02-01"})), ValueType::text);
}

// Every day of some centuries, counted one by one.
TEST(Dates, CountDays) {
  const DateForm form = date_form("1970-01-01").value();
  char text[kMaxDateBytes];
  int year = 1900;
  int month = 1;
  int day = 1;
  for (int64_t count = parse_date(form, "1900-01-01").value(); year < 2300; count += 86400) {
    std::snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, day);
    ASSERT_EQ(parse_date(form, text), std::optional<int64_t>(count)) << text;
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    const int days[] = {31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (++day > days[month - 1]) {
      day = 1;
      if (++month > 12) {
        month = 1;
        ++year;
      }
    }
  }
  EXPECT_EQ(parse_date(form, "1970-01-01"), std::optional<int64_t>(0));
}

TEST(Dates, AreTakenOnlyAsTheyAreRendered) {
  for (const char* text : {"2024-01-31", "2024-01-31T13:55:36Z", "2024-01-31 13:55:36,250",
                           "2024-01-31T13:55:36.123456789+01:00", "31/Jan/2024:13:55:36 +0100",
                           "13:55:36", "23:59:59.999", "0001-01-01", "9999-12-31"}) {
    const std::optional<DateForm> form = date_form(text);
    ASSERT_TRUE(form) << text;
    const std::optional<int64_t> count = parse_date(*form, text);
    ASSERT_TRUE(count) << text;
    char again[kMaxDateBytes];
    EXPECT_EQ(std::string(again, render_date(*form, *count, again)), text);
  }
  for (const char* text :
       {"2024-02-30", "2024-13-01", "2024-00-10", "2023-02-29", "24:00:00", "12:60:00",
        "2024-01-31T24:00:00", "32/Jan/2024:13:55:36", "01/Xyz/2024:13:55:36"}) {
    const std::optional<DateForm> form = date_form(text);
    ASSERT_TRUE(form) << text;
    EXPECT_FALSE(parse_date(*form, text)) << text;
  }
  for (const char* text : {"", "2024", "2024-1-1", "2024-01-31x", "1:2:3", "12:00:00.1234567890"}) {
    EXPECT_FALSE(date_form(text)) << text;
  }
}

// Forms from a damaged file keep to their room.
TEST(Dates, RenderAnyCount) {
  for (const char* text : {"2024-01-31", "2024-01-31T13:55:36.123456789+01:00", "13:55:36",
                           "31/Jan/2024:13:55:36 +0100"}) {
    for (const int64_t count : {INT64_MIN, INT64_MAX, int64_t{-1}, int64_t{0}}) {
      char out[kMaxDateBytes];
      EXPECT_LE(render_date(date_form(text).value(), count, out) - out, ptrdiff_t{kMaxDateBytes});
    }
  }
}

}  // namespace
}  // namespace hoist::records
