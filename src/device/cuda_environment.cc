#include "device/cuda_environment.h"

#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace hoist::device {
namespace {

constexpr const char* kVisible = "CUDA_VISIBLE_DEVICES";

// What hide_other_gpus() has changed.
struct Hidden {
  bool is_set = false;
  std::optional<std::string> before;
};

Hidden& hidden() {
  static auto* const state = new Hidden;
  return *state;
}

size_t count_files(const std::string& pattern) {
  glob_t found = {};
  const size_t count =
      ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0 ? found.gl_pathc : 0;
  ::globfree(&found);
  return count;
}

}  // namespace

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
  if (end == 0 || end == std::string_view::npos) return std::nullopt;
  return std::string(list.substr(0, end));
}

void hide_other_gpus(const std::string& root) {
  // A container has device files of some.
  if (count_files(root + "/dev/nvidia[0-9]*") < 2) return;
  if (count_files(root + "/proc/driver/nvidia/capabilities/gpu*/mig/gi*") > 0) return;
  const char* const before = std::getenv(kVisible);
  const std::optional<std::string> first = without_other_gpus(before);
  if (!first) return;
  hidden().before = before != nullptr ? std::optional<std::string>(before) : std::nullopt;
  hidden().is_set = true;
  ::setenv(kVisible, first->c_str(), 1);
}

const char* users_visible_gpus() {
  if (!hidden().is_set) return std::getenv(kVisible);
  return hidden().before ? hidden().before->c_str() : nullptr;
}

}  // namespace hoist::device
