// The formats of patterns in requests and answers, and who asks for which.
#pragma once

#include <optional>

#include "net/http/message.h"
#include "service/api/body.h"

namespace hoist::service {

enum class PatternFormat { json_lines, arrow_stream, arrow_file };

const char* content_type(PatternFormat format);

// The query's `format`; without it what `Accept` wants most, JSON Lines where that is nothing of
// ours. None, with a fault, for a `format` that there is not.
std::optional<PatternFormat> format_of_answer(const net::HttpRequest& request, BodyFaults& faults);
// The query's `format`; without it that of `Content-Type`, JSON Lines where that is another one.
std::optional<PatternFormat> format_of_body(const net::HttpRequest& request, BodyFaults& faults);

}  // namespace hoist::service
