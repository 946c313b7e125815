// The folder of an index that is being made: it gets its name when it is whole. The rule is that of
// files (base/output_file.h): nothing that exists is replaced, with --force an index of ours.
#pragma once

#include <string>

#include "base/result.h"

namespace hoist::cli {

class NewFolder {
 public:
  NewFolder(const std::string& path, bool force);
  // Removes what was not published.
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const std::string& temporary() const { return temporary_; }

  // Whether publish() would be refused as things stand: before long work. `input` is read for it.
  Status check(const std::string& input) const;
  // Gives the folder its name. What it replaces is removed behind it.
  Status publish();

 private:
  Status replace();

  std::string path_;  // without slashes at its end
  std::string temporary_;
  bool force_;
};

}  // namespace hoist::cli
