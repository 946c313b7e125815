#include "service/node/write_probe.h"

#include <fcntl.h>
#include <unistd.h>

#include <vector>

#include "base/file.h"

namespace hoist::service {

bool takes_files(const std::string& folder) {
  constexpr size_t kBytes = 8 << 20;  // to open an index takes less
  const std::string path = folder + "/write-probe";
  bool is_written = false;
  if (const auto file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC)) {
    const std::vector<char> bytes(kBytes);
    is_written =
        write_full(file->get(), bytes.data(), bytes.size(), path) && ::fdatasync(file->get()) == 0;
  }
  ::unlink(path.c_str());
  return is_written;
}

}  // namespace hoist::service
