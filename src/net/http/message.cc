#include "net/http/message.h"

#include <algorithm>

namespace hoist::net {
namespace {

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char byte : text) {
    if (byte == '"' || byte == '\\') out += '\\';
    // What the server says of itself is plain; a control character could only come from a request.
    out += static_cast<unsigned char>(byte) < 0x20 ? ' ' : byte;
  }
  out += '"';
}

}  // namespace

const std::string* HttpRequest::header(std::string_view lower_case_name) const {
  const auto found = std::find_if(headers.begin(), headers.end(), [&](const HttpHeader& header) {
    return header.name == lower_case_name;
  });
  return found == headers.end() ? nullptr : &found->value;
}

const std::string* HttpRequest::argument(std::string_view name) const {
  const auto found = std::find_if(query.begin(), query.end(),
                                  [&](const auto& argument) { return argument.first == name; });
  return found == query.end() ? nullptr : &found->second;
}

HttpReply& HttpReply::operator=(HttpReply&& other) noexcept {
  if (this == &other) return *this;
  if (path_) send(http_error(500));
  path_ = std::move(other.path_);
  request_ = other.request_;
  return *this;
}

HttpReply::~HttpReply() {
  if (path_) send(http_error(500));
}

void HttpReply::send(HttpResponse response) {
  if (const auto path = std::move(path_)) path->send(request_, std::move(response));
}

void HttpReply::run(std::function<void()> work) const {
  const auto path = path_;  // the work may send the reply before this returns
  path->run(std::move(work));
}

HttpResponse http_error(int status, std::string_view detail) {
  HttpResponse response;
  response.status = status;
  response.body = "{\"detail\":";
  append_json_string(response.body, detail.empty() ? http_phrase(status) : detail);
  response.body += '}';
  return response;
}

std::string_view http_phrase(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 101:
      return "Switching Protocols";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Entity";
    case 426:
      return "Upgrade Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    case 507:
      return "Insufficient Storage";
    default:
      return "Unknown";
  }
}

}  // namespace hoist::net
