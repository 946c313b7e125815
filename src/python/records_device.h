// Columns of a file of records in a device's memory, for hoist.records.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "records/gpu/column_loader.h"
#include "records/typed/typed_values.h"

namespace hoist::python {

using namespace records::typed;
using records::typed::ColumnType;

// A column as it was asked for.
struct DeviceColumnType {
  ColumnType type;
  records::WantedColumn wanted;
};

// `invalid_argument` where a column cannot be had as `as` (one of "bool", "int64", "float64",
// "float32", "decimal", "timestamp", "codes"; empty: what it is by itself), or is one of lists.
Result<DeviceColumnType> device_column(const ColumnType& type, const std::string& as);
const char* name(records::DeviceType type);

struct LoadedColumn {
  DeviceColumnType type;
  records::DeviceColumn column;
  std::vector<std::string> dictionary;     // of codes, sorted
  std::shared_ptr<device::Buffer> memory;  // of the column
};

// Immutable.
struct DeviceTable {
  device::Device* device = nullptr;
  uint64_t rows = 0;
  std::vector<LoadedColumn> columns;
  records::LoadStatistics statistics;
};

// The columns of the selection; its types are those of `columns`.
Result<std::shared_ptr<DeviceTable>> load_table(const records::RecordReader& reader,
                                                const Selection& selection,
                                                const std::vector<DeviceColumnType>& columns,
                                                const std::string& device,
                                                const std::stop_token& stop);

// hoist._records.DeviceTable.
void define_device_table(nanobind::module_& module);

// (schema, array): capsules of Arrow's C device interface.
nanobind::tuple arrow_device_array(std::shared_ptr<const DeviceTable> table);

}  // namespace hoist::python
