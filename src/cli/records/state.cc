#include "cli/records/state.h"

#include "cli/report.h"
#include "records/file_state.h"

namespace hoist::cli {

void warn_of_state(const records::RecordReader& reader) {
  const std::string warning = records::state_warning(reader);
  if (!warning.empty()) warn(warning);
}

}  // namespace hoist::cli
