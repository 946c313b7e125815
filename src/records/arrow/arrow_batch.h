// Columns of records as fields of an Arrow schema and as the buffers of a record batch.
#pragma once

#include <span>
#include <vector>

#include "arrow/message.h"
#include "records/typed/typed_values.h"

namespace hoist::records::arrow {

using hoist::arrow::Batch;
using hoist::arrow::Field;

// A column with a dictionary has its own number as the dictionary's id.
std::vector<Field> fields_of(std::span<const typed::ColumnType> columns);
Batch make_batch(const typed::SelectedBlock& block, std::span<const typed::ColumnType> columns);
Batch make_dictionary(const typed::TextDictionary& dictionary);

}  // namespace hoist::records::arrow
