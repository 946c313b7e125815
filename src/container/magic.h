// The first bytes of a container.
#pragma once

#include <string_view>

namespace hoist::container {

// As PNG's signature: a byte above 127 and both line ends, so that a transfer that mangles bytes
// shows at once.
constexpr std::string_view kFileMagic = "\x89HOLO\r\n\x1a";

}  // namespace hoist::container
