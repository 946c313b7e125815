// Records as a stream of Arrow arrays, a batch for each block.
#pragma once

#include <memory>
#include <string>

#include "python/arrow_c.h"
#include "records/typed/typed_values.h"

namespace hoist::python {

// Arrow's name of a column's type; of its elements where it has lists.
std::string arrow_format(const records::typed::ColumnType& type);

// A stream that its consumer releases. It needs no interpreter: any thread may ask for batches,
// one at a time.
void make_arrow_stream(std::shared_ptr<const records::RecordReader> reader,
                       records::typed::Selection selection, ArrowArrayStream* out);

}  // namespace hoist::python
