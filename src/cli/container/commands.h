// The commands of `hoist container`: they look into container files, verify and repair them.
#pragma once

#include <string>
#include <vector>

#include "container/survey.h"

namespace hoist::cli {

struct InfoOptions {
  std::string file;
  bool json = false;
  bool blocks = false;  // list them
};
int info_command(const InfoOptions& options);

struct VerifyFilesOptions {
  std::vector<std::string> files;
  bool json = false;
};
int verify_command(const VerifyFilesOptions& options);

struct RepairFileOptions {
  std::string file;
  std::string output;
  bool force = false;  // replace it where it exists
  bool json = false;
};
int repair_command(const RepairFileOptions& options);

// Limits for a file that the user names: its own size is limit enough for its parts.
container::Limits limits_for(uint64_t file_size);
// "TENS", or hexadecimal where the number is no four letters.
std::string kind_name(uint32_t kind);
std::string hex(const Blake3Digest& digest);

}  // namespace hoist::cli
