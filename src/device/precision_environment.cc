#include "device/precision_environment.h"

#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace hoist::device {

bool changes_precision(std::string_view variable) {
  return variable.starts_with("NVIDIA_TF32_OVERRIDE=") || variable.starts_with("CUBLAS_EMULAT");
}

void forget_precision_variables() {
  std::vector<std::string> names;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (changes_precision(text)) names.emplace_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names) ::unsetenv(name.c_str());
}

}  // namespace hoist::device
