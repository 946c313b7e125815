// Options that give names values: --in x=x.npy.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hoist::cli {

struct Assignment {
  std::string name;
  std::string value;
};

// Each of `texts` is "name=value", and a name has one value. `command` and `option` are for
// messages: "hoist px run", "--in".
Result<std::vector<Assignment>> assignments(const std::string& command, const std::string& option,
                                            const std::vector<std::string>& texts);

}  // namespace hoist::cli
