// Makes composed columns of a block whole.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "records/column.h"
#include "records/composition.h"
#include "records/values.h"

namespace hoist::records {

class ColumnComposer {
 public:
  ColumnComposer(std::span<const Shape> shapes, std::span<const int64_t> rows, size_t columns)
      : rows_(rows_of_columns(shapes, rows, columns)), texts_(columns) {}

  // Column number `number` as strings, of at most `most_bytes`; `patterns` is what decode_column()
  // gives of its bytes, `before` the columns before it.
  Result<std::shared_ptr<const DecodedColumn>> compose(size_t number,
                                                       std::span<const std::byte> bytes,
                                                       const DecodedColumn& patterns,
                                                       const DecodedColumns& before,
                                                       uint64_t most_bytes);

 private:
  struct Texts {
    TextValues values;
    std::vector<std::string_view> views;
  };
  const std::vector<std::string_view>& texts_of(uint32_t column, const DecodedColumn& decoded);

  std::vector<ColumnRows> rows_;
  std::vector<std::unique_ptr<Texts>> texts_;
};

}  // namespace hoist::records
