#include "net/http/response_text.h"

#include <fmt/core.h>

#include <ctime>
#include <iterator>

namespace hoist::net {
namespace {

bool is_one_line(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

// Headers that are the server's to write: a second one would contradict it.
bool is_framing(std::string_view name) {
  return name == "content-length" || name == "transfer-encoding" || name == "connection" ||
         name == "date";
}

void append_header(std::string& head, std::string_view name, std::string_view value) {
  if (name.empty() || !is_one_line(name) || !is_one_line(value)) return;
  head.append(name).append(": ").append(value).append("\r\n");
}

// A response to which no body belongs (RFC 9110, section 6.4.1).
bool has_no_length(int status) { return status < 200 || status == 204 || status == 304; }

}  // namespace

std::string_view HttpDate::text() {
  const std::time_t now = std::time(nullptr);
  if (now == second_) return text_;
  second_ = now;
  std::tm parts = {};
  ::gmtime_r(&now, &parts);
  // Not by strftime: its names are the locale's.
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  text_ = fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[parts.tm_wday], parts.tm_mday,
                      kMonths[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour, parts.tm_min,
                      parts.tm_sec);
  return text_;
}

std::string http_head(const HttpResponse& response, const HttpFraming& framing,
                      std::string_view date) {
  std::string head;
  head.reserve(256);
  fmt::format_to(std::back_inserter(head), "HTTP/1.1 {} {}\r\ndate: {}\r\n", response.status,
                 http_phrase(response.status), date);
  if (!response.content_type.empty() && !has_no_length(response.status)) {
    append_header(head, "content-type", response.content_type);
  }
  for (const HttpHeader& header : response.headers) {
    if (!is_framing(header.name)) append_header(head, header.name, header.value);
  }
  if (framing.length) {
    if (!has_no_length(response.status)) {
      fmt::format_to(std::back_inserter(head), "content-length: {}\r\n", *framing.length);
    }
  } else if (framing.http11) {
    head += "transfer-encoding: chunked\r\n";
  }
  if (!framing.keep_alive) {
    head += "connection: close\r\n";
  } else if (!framing.http11) {
    head += "connection: keep-alive\r\n";
  }
  head += "\r\n";
  return head;
}

}  // namespace hoist::net
