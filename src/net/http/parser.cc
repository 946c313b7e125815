#include "net/http/parser.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/version.hpp>
#include <limits>

namespace hoist::net {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr size_t kMostChunkLine = 16 << 10;  // a chunk's size with its extensions, or the trailers

std::string lower_case(beast::string_view text) {
  std::string lower(text.size(), '\0');
  std::transform(text.begin(), text.end(), lower.begin(), [](char byte) {
    return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + ('a' - 'A')) : byte;
  });
  return lower;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether each line of a head, from `from` on, ends in CRLF and no line goes on in the next.
bool lines_are_strict(std::string_view head, size_t from) {
  for (size_t at = head.find_first_of("\r\n", from); at < head.size();
       at = head.find_first_of("\r\n", at + 2)) {
    if (head[at] == '\n') return false;
    if (at + 1 == head.size()) return true;
    if (head[at + 1] != '\n') return false;
    if (at + 2 < head.size() && (head[at + 2] == ' ' || head[at + 2] == '\t')) return false;
  }
  return true;
}

bool names_other_version(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\r'));
  const size_t at = line.rfind(" HTTP/");
  if (at == std::string_view::npos || line.size() != at + 9) return false;
  const std::string_view version = line.substr(at + 6);
  return is_number(version.substr(0, 1)) && version[1] == '.' && is_number(version.substr(2)) &&
         version != "1.0" && version != "1.1";
}

class BeastParser : public http::basic_parser<true> {
 public:
  HttpHead head;
  std::string_view piece;
  uint64_t chunk_left = 0;
  int error = 0;

 private:
  using Code = beast::error_code;

  void refuse(int status, Code& code) {
    error = status;
    code = http::make_error_code(http::error::bad_value);
  }

  void on_request_impl(http::verb, beast::string_view method, beast::string_view target,
                       int version, Code&) override {
    head.method.assign(method.data(), method.size());
    head.target.assign(target.data(), target.size());
    head.http11 = version == 11;
  }

  void on_field_impl(http::field field, beast::string_view name, beast::string_view value,
                     Code& code) override {
    if (in_body_) return;  // a trailer: none is of use
    const std::string_view text(value.data(), value.size());
    if (field == http::field::content_length) {
      if (++lengths_ > 1 || !is_number(text)) return refuse(400, code);
    } else if (field == http::field::transfer_encoding) {
      if (!head.http11) return refuse(400, code);
      if (lower_case(value) != "chunked") return refuse(501, code);
    } else if (field == http::field::host) {
      if (++hosts_ > 1) return refuse(400, code);
    } else if (field == http::field::expect) {
      if (lower_case(value) != "100-continue") return refuse(417, code);
      head.expects_continue = head.http11;
    }
    head.headers.push_back({lower_case(name), std::string(text)});
  }

  void on_header_impl(Code& code) override {
    if (head.http11 && hosts_ == 0) return refuse(400, code);
    in_body_ = true;
    head.keep_alive = keep_alive();
    head.upgrade = upgrade();
    head.chunked = chunked();
    if (lengths_ > 0) head.content_length = content_length().value_or(0);
  }

  size_t on_body_impl(beast::string_view body, Code&) override {
    piece = std::string_view(body.data(), body.size());
    return body.size();
  }
  size_t on_chunk_body_impl(uint64_t left, beast::string_view body, Code&) override {
    piece = std::string_view(body.data(), body.size());
    chunk_left = left - body.size();
    return body.size();
  }

#if BOOST_BEAST_VERSION >= 359  // of Boost 1.90: trailers apart
  void on_trailer_field_impl(http::field field, beast::string_view, beast::string_view,
                             Code& code) override {
    if (field == http::field::content_length || field == http::field::transfer_encoding)
      refuse(400, code);
  }
#endif

  void on_response_impl(int, beast::string_view, int, Code&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>&, Code&) override {}
  void on_chunk_header_impl(uint64_t size, beast::string_view, Code&) override {
    chunk_left = size;
  }
  void on_finish_impl(Code&) override {}

  int lengths_ = 0;
  int hosts_ = 0;
  bool in_body_ = false;
};

}  // namespace

class HttpParser::Engine {
 public:
  explicit Engine(size_t most_head) : most_head_(most_head) { reset(); }

  void reset() {
    beast_.emplace();
    // Not boost::none, of which every length is in excess (1.74); routes have limits of their own.
    beast_->body_limit(std::numeric_limits<uint64_t>::max());
    beast_->header_limit(static_cast<uint32_t>(most_head_ + 4));
    state = State::head;
    scanned_ = 0;
  }

  size_t put(std::string_view bytes) {
    beast_->piece = {};
    if (state == State::head) return put_head(bytes);
    if (state == State::body) return put_body(bytes);
    return 0;
  }

  BeastParser& beast() { return *beast_; }

  State state = State::head;
  int error = 0;

 private:
  size_t refuse(int status) {
    state = State::failed;
    error = status;
    return 0;
  }

  size_t put_head(std::string_view bytes) {
    // Empty lines before a request are passed over (RFC 9112, section 2.2).
    if (scanned_ == 0 && bytes.substr(0, 2) == "\r\n") return 2;
    const size_t end = bytes.find("\r\n\r\n", scanned_ < 3 ? 0 : scanned_ - 3);
    const std::string_view head = bytes.substr(0, end == std::string_view::npos ? end : end + 4);
    // No further than the limit: which of two errors is told must not depend on how the bytes come.
    const size_t from = scanned_ < 3 ? 0 : head.rfind('\n', scanned_ - 3) + 1;
    if (!lines_are_strict(head.substr(0, most_head_), from)) return refuse(400);
    if (head.size() > most_head_) return refuse(431);
    if (end == std::string_view::npos) {
      scanned_ = bytes.size() == 1 ? 0 : bytes.size();
      return 0;
    }
    beast::error_code code;
    beast_->put(boost::asio::const_buffer(head.data(), head.size()), code);
    if (code || !beast_->is_header_done()) {
      if (beast_->error != 0) return refuse(beast_->error);
      return refuse(code == http::error::bad_version && names_other_version(head) ? 505 : 400);
    }
    state = beast_->is_done() ? State::complete : State::body;
    return head.size();
  }

  size_t put_body(std::string_view bytes) {
    // Beast (1.74) asserts so many at the last chunk; the shortest is "0" with two line ends.
    if (beast_->head.chunked && beast_->chunk_left == 0 && bytes.size() < 5) return 0;
    const bool at_line = beast_->head.chunked && beast_->chunk_left == 0;
    if (at_line) bytes = bytes.substr(0, kMostChunkLine);
    beast::error_code code;
    const size_t taken = beast_->put(boost::asio::const_buffer(bytes.data(), bytes.size()), code);
    const bool goes_on = code == http::error::need_more;
    if (code && !goes_on) return refuse(400);
    if (goes_on && at_line && taken == 0 && bytes.size() == kMostChunkLine) return refuse(400);
    if (beast_->is_done()) state = State::complete;
    return taken;
  }

  const size_t most_head_;
  std::optional<BeastParser> beast_;
  size_t scanned_ = 0;  // so many bytes hold no end of the head
};

HttpParser::HttpParser(size_t most_head) : engine_(std::make_unique<Engine>(most_head)) {}
HttpParser::~HttpParser() = default;
void HttpParser::reset() { engine_->reset(); }
size_t HttpParser::put(std::string_view bytes) { return engine_->put(bytes); }
HttpParser::State HttpParser::state() const { return engine_->state; }
HttpHead& HttpParser::head() { return engine_->beast().head; }
std::string_view HttpParser::piece() const { return engine_->beast().piece; }
int HttpParser::error() const { return engine_->error; }

}  // namespace hoist::net
