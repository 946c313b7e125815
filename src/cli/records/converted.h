// Records in another format, written where the user says.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/records/commands.h"
#include "records/convert/text_source.h"

namespace hoist::cli {

using ConvertRecords = std::function<Result<records::Converted>(records::SourceOptions how,
                                                                const records::WriteText& write)>;

// Warns of rows that were left out.
Status write_converted(const RecordForm& form, const std::string& output, bool force,
                       const std::vector<std::string>& inputs, const ConvertRecords& convert);

}  // namespace hoist::cli
