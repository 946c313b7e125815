#include "device/cuda_environment.h"

#include <fmt/core.h>
#include <stdlib.h>
#include <unistd.h>

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

std::optional<std::string> without_other_gpus(const char* visible) {
  if (visible == nullptr) return "0";
  const std::string_view list = visible;
  const size_t end = list.find(',');
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(list.substr(0, end));
}

void hide_other_gpus() {
  constexpr int kMostGpus = 64;
  int gpus = 0;  // a container has device files of some
  for (int i = 0; i < kMostGpus && gpus < 2; ++i) {
    gpus += ::access(fmt::format("/dev/nvidia{}", i).c_str(), F_OK) == 0 ? 1 : 0;
  }
  if (gpus < 2) return;
  const std::optional<std::string> first = without_other_gpus(::getenv("CUDA_VISIBLE_DEVICES"));
  if (first) ::setenv("CUDA_VISIBLE_DEVICES", first->c_str(), 1);
}

}  // namespace hoist::device
