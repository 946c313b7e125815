// What a process of Hoist's own changes of the variables that CUDA and its libraries read. No other
// thread may use the environment meanwhile.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hoist::device {

// Whether "NAME=value" makes CUDA's libraries compute otherwise than they are called to, in TF32 or
// by emulation. What one program's user has set holds neither for a hoistd nor for its
// other clients.
bool changes_precision(std::string_view variable);

void forget_precision_variables();

// Hides all GPUs but the first that is visible, for who uses that one alone: with a second one that
// CUDA sees it takes 0.15 s longer to start. To be called before CUDA is used, once. Where there is
// one at most nothing happens, nor where one is cut into slices (MIG), of which CUDA chooses the
// one that it shows. `root` is the folder that /dev and /proc are in.
void hide_other_gpus(const std::string& root = "");

// What CUDA_VISIBLE_DEVICES must become for that, from what it is (null: not set); nothing: it may
// stay.
std::optional<std::string> without_other_gpus(const char* visible);

// CUDA_VISIBLE_DEVICES as the user set it; null: not set.
const char* users_visible_gpus();

}  // namespace hoist::device
