#include "cli/px/commands.h"
#include "cli/px/read_source.h"
#include "cli/report.h"

namespace hoist::cli {

int px_check(const PxCheckOptions& options) {
  int status = kDone;
  for (const std::string& path : options.files) {
    const Result<PxFile> file = load_px(path);
    if (!file) return report(file.error());
    if (!file->lowered) status = kFailed;
  }
  return status;
}

}  // namespace hoist::cli
