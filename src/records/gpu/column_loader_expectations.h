// Columns on a device beside what their texts say.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "records/gpu/column_loader_testing.h"

namespace hoist::records {

inline void expect_column(const DeviceColumns& columns, size_t c, const WantedColumn& wanted,
                          const std::vector<std::optional<std::string>>& texts,
                          const PlainMeaning& meaning) {
  const std::string name = wanted.path + " as " + std::to_string(static_cast<int>(wanted.type));
  ASSERT_EQ(columns.rows, texts.size()) << name;
  const DeviceColumn& column = columns.columns[c];
  ASSERT_EQ(column.valid != nullptr, wanted.nullable);
  std::vector<uint8_t> valid(columns.rows, 1);
  if (wanted.nullable) valid = downloaded<uint8_t>(columns, column.valid);
  if (wanted.type == DeviceType::codes) {
    const auto codes = downloaded<int32_t>(columns, column.values);
    for (size_t row = 0; row < texts.size(); ++row) {
      if (!texts[row]) {
        ASSERT_EQ(codes[row], -1) << name << " row " << row;
        ASSERT_EQ(valid[row], 0);
        continue;
      }
      ASSERT_EQ(valid[row], 1);
      ASSERT_EQ(meaning.texts().at(static_cast<size_t>(codes[row])), *texts[row])
          << name << " row " << row;
    }
    return;
  }
  std::vector<uint64_t> bits(columns.rows);
  if (wanted.type == DeviceType::float32) {
    const auto floats = downloaded<float>(columns, column.values);
    for (size_t row = 0; row < floats.size(); ++row) {
      bits[row] = bits_of(static_cast<double>(floats[row]));
    }
  } else {
    bits = downloaded<uint64_t>(columns, column.values);
  }
  for (size_t row = 0; row < texts.size(); ++row) {
    std::optional<uint64_t> expected;
    if (texts[row]) expected = bits_in(wanted, *texts[row]);
    ASSERT_EQ(valid[row], expected ? 1 : 0)
        << name << " row " << row << ": " << texts[row].value_or("nothing");
    if (expected && wanted.type == DeviceType::float32) {
      expected = bits_of(static_cast<double>(static_cast<float>(double_of_bits(*expected))));
    }
    const bool is_real = wanted.type == DeviceType::float64 || wanted.type == DeviceType::float32;
    if (!expected && is_real) {
      ASSERT_NE(double_of_bits(bits[row]), double_of_bits(bits[row])) << name;
      continue;
    }
    const uint64_t missing = wanted.type == DeviceType::timestamp ? uint64_t{1} << 63 : 0;
    ASSERT_EQ(bits[row], expected.value_or(missing))
        << name << " row " << row << ": " << texts[row].value_or("nothing");
  }
}

// Whether digits of a fixed width are among the texts, which are integers to those who say so.
inline bool may_be_digits(const std::vector<std::optional<std::string>>& texts) {
  return std::any_of(texts.begin(), texts.end(), [](const std::optional<std::string>& text) {
    return text && !text->empty() && !parse_integer(*text) &&
           text->find_first_not_of("0123456789abcdefABCDEF") == text->npos;
  });
}

}  // namespace hoist::records
