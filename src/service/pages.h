// Files of this folder that the service serves, built into it.
#pragma once

#include <string_view>

namespace hoist::service {

extern const std::string_view kStatusPage;    // monitoring/status_page.html
extern const std::string_view kStatusScript;  // monitoring/status_page.js
extern const std::string_view kOpenApi;       // openapi.json

}  // namespace hoist::service
