// Texts of records as programs want them: without escapes, in valid UTF-8.
#pragma once

#include <string>
#include <string_view>

#include "records/tokens.h"

namespace hoist::records::typed {

// The text that a value stands for: JSON's escapes between quotes, and doubled quotes of CSV,
// are undone. Bytes that are no UTF-8, and surrogates alone, become U+FFFD. The result is `text`
// itself, or lies in `storage`.
std::string_view plain_text(std::string_view text, Format format, ColumnKind kind,
                            std::string& storage);

// The same without a loss: bytes that are no UTF-8 stay, and JSON's escapes for them are undone
// (convert/json_value.h).
std::string_view exact_text(std::string_view text, Format format, ColumnKind kind,
                            std::string& storage);

}  // namespace hoist::records::typed
