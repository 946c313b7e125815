// Columns of records as the buffers of an Arrow record batch.
#pragma once

#include <span>

#include "records/arrow/arrow_message.h"

namespace hoist::records::arrow {

Batch make_batch(const typed::SelectedBlock& block, std::span<const typed::ColumnType> columns);
Batch make_dictionary(const typed::TextDictionary& dictionary);

}  // namespace hoist::records::arrow
