// Arbitrary bytes as text of records in one of the formats. Where all rows are records, they come
// back through every other format. The first byte says which format, and which it goes to.
#include <cstdint>
#include <cstdlib>

#include "records/convert/convert_testing.h"

namespace {

using namespace hoist::records;

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const TextForm from = kAllForms[data[0] % 6];
  const TextForm to = kAllForms[data[0] / 6 % 6];
  static hoist::ThreadPool pool(1);
  const auto in_turn = [&](std::string_view what, TextForm source, TextForm target) {
    return converted(what, {.from = source, .to = target, .pool = &pool});
  };
  const auto json = converted(
      text, {.from = from, .to = TextForm::jsonl, .unparsed = Unparsed::skip, .pool = &pool});
  if (!json) return 0;  // a header that is none
  const auto other = in_turn(*json, TextForm::jsonl, to);
  if (!other) return 0;  // too many columns
  const auto again = in_turn(*other, to, TextForm::jsonl);
  check(again.has_value() && *again == *json);
  return 0;
}
