// A column of texts as numbers of one form, where it is one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "records/number_text.h"

namespace hoist::records {

struct NumberColumn {
  NumberForm form;
  std::vector<int64_t> values;      // of all but the exceptions
  std::vector<int64_t> digits;      // decimals of style `own`: behind the point of each value
  std::vector<int64_t> exceptions;  // positions of the texts that do not have the form, ascending
};

// Nothing where more than a quarter of the texts would be exceptions.
std::optional<NumberColumn> as_numbers(std::span<const std::string_view> texts);

void write_form(const NumberForm& form, std::string& out);
Result<NumberForm> read_form(ByteReader& in);

}  // namespace hoist::records
