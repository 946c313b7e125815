// Fuzzes qsort: the first bytes describe a comparator, the rest fills the array. Where the
// comparator is a strict weak order the bytes must be the C library's; else a permutation. What is
// not taken must be as it was.
#include <cstdint>
#include <cstdlib>

#include "ops/qsort/qsort_testing.h"

using hoist::qsort::testing::as_multiset;
using hoist::qsort::testing::Field;
using hoist::qsort::testing::Fields;
using hoist::qsort::testing::FieldType;
using hoist::qsort::testing::has_nan;
using hoist::qsort::testing::kFieldTypes;
using hoist::qsort::testing::sort_with_engine;
using hoist::qsort::testing::sorted_by_libc;
using hoist::qsort::testing::width_of;

namespace {

constexpr size_t kHead = 12;
constexpr size_t kMostRepeats = 40;

void require(bool condition) {
  if (!condition) std::abort();
}

// Answers by a table: no order at all.
int compare_by_table(const void* a, const void* b, void* table) {
  const auto* x = static_cast<const uint8_t*>(a);
  const auto* y = static_cast<const uint8_t*>(b);
  return static_cast<const int8_t*>(table)[(*x * 7 + *y) % kHead];
}

Fields read_order(const uint8_t* head, size_t size) {
  Fields order;
  for (int i = 0; i < 3; ++i, head += 3) {
    Field field;
    field.type = static_cast<FieldType>(head[0] % kFieldTypes);
    if (width_of(field.type) > size) field.type = FieldType::u8;
    field.offset = head[1] % (size - width_of(field.type) + 1);
    field.length = 1 + head[2] % (size - field.offset);
    field.descending = (head[0] & 0x80) != 0;
    order.fields.push_back(field);
    if ((head[1] & 0x80) == 0) break;
  }
  return order;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  if (bytes < kHead) return 0;
  const size_t size = 1 + data[0] % 40;
  const bool nonsense = data[1] % 8 == 0;
  const size_t repeats = 1 + data[2] % kMostRepeats;
  Fields order = read_order(data + 3, size);
  std::vector<char> input;
  for (size_t i = 0; i < repeats; ++i) input.insert(input.end(), data + kHead, data + bytes);
  input.resize(input.size() / size * size);

  std::vector<char> table(data, data + kHead);
  hoist_compare* const compare = nonsense ? compare_by_table : Fields::compare;
  void* const context = nonsense ? static_cast<void*>(table.data()) : &order;
  std::vector<char> ours = input;
  if (!sort_with_engine(ours, size, compare, context)) {
    require(ours == input);
  } else if (nonsense || has_nan(order, input, size)) {
    require(as_multiset(ours, size) == as_multiset(input, size));
  } else {
    require(ours == sorted_by_libc(input, size, compare, context));
  }
  return 0;
}
