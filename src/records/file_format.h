// What a file of records says of itself outside its blocks: the container's numbers and metadata
// (docs/reference/hrec.md).
#pragma once

#include <string>

#include "base/result.h"
#include "container/codec_numbers.h"
#include "container/format.h"
#include "records/tokens.h"

namespace hoist::records {

inline constexpr uint32_t kFileKind = container::four_letters("HREC");
inline constexpr uint32_t kBlockKind = container::four_letters("ROWS");
inline constexpr uint16_t kBlockCodec = container::kFirstOfKind;

std::string encode_dialect(const Dialect& dialect);
// `starts_with_header` is false: what follows in the file does not begin with one.
Result<Dialect> decode_dialect(container::Bytes metadata);

}  // namespace hoist::records
