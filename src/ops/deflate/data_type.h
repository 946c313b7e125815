// What zlib's deflate() tells about its input in z_stream.data_type.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace hoist::deflate {

// Z_TEXT or Z_BINARY. zlib looks at the bytes of the first block that it writes (zlib's
// doc/txtvsbin.txt has the rule), which holds 16383 symbols at least. Nothing where it hangs on
// where that block ends.
std::optional<int> data_type_of(std::span<const std::byte> input);

}  // namespace hoist::deflate
