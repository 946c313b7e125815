#include "net/http/websocket_frames.h"

#include <openssl/evp.h>

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace hoist::net {
namespace {

constexpr size_t kMostControl = 125;

bool is_control(WebSocketOpcode opcode) { return (static_cast<uint8_t>(opcode) & 8) != 0; }

bool is_opcode(uint8_t number) { return number <= 2 || (number >= 8 && number <= 10); }

// Codes that an endpoint may send (section 7.4; 1012 to 1014 were registered later).
bool is_sendable(uint16_t code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
         (code >= 3000 && code <= 4999);
}

uint64_t big_endian(std::string_view bytes) {
  uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

}  // namespace

void WebSocketParser::fail(uint16_t code) {
  event_ = Event::failed;
  code_ = code;
}

size_t WebSocketParser::put(std::string_view bytes) {
  if (event_ == Event::failed) return 0;
  event_ = Event::none;
  size_t taken = 0;
  while (event_ == Event::none && taken < bytes.size()) {
    if (!in_frame_) {
      header_ += bytes[taken++];
      if (read_header() && event_ == Event::none && left_ == 0) end_frame();
      continue;
    }
    std::string& to = is_control(opcode_) ? control_ : message_;
    const size_t count = std::min<uint64_t>(left_, bytes.size() - taken);
    const size_t at = to.size();
    to += bytes.substr(taken, count);
    for (size_t i = at; i < to.size(); ++i) {
      to[i] = static_cast<char>(static_cast<unsigned char>(to[i]) ^ mask_[mask_at_++ & 3]);
    }
    taken += count;
    left_ -= count;
    if (left_ == 0) end_frame();
  }
  return taken;
}

// True when the header is whole: then the frame is checked and begun.
bool WebSocketParser::read_header() {
  if (header_.size() < 2) return false;
  const auto first = static_cast<unsigned char>(header_[0]);
  const auto second = static_cast<unsigned char>(header_[1]);
  // What is wrong here is told before the rest comes.
  if ((first & 0x70) != 0 || !is_opcode(first & 15) || (second & 0x80) == 0) {
    fail(websocket_code::kProtocolError);
    return true;
  }
  const uint8_t length = second & 0x7f;
  const size_t length_bytes = length == 127 ? 8 : length == 126 ? 2 : 0;
  if (header_.size() < 2 + length_bytes + 4) return false;

  final_ = (first & 0x80) != 0;
  opcode_ = static_cast<WebSocketOpcode>(first & 15);
  left_ =
      length_bytes == 0 ? length : big_endian(std::string_view(header_).substr(2, length_bytes));
  for (size_t i = 0; i < 4; ++i) {
    mask_[i] = static_cast<unsigned char>(header_[2 + length_bytes + i]);
  }
  mask_at_ = 0;
  header_.clear();
  in_frame_ = true;

  const bool shortest = length_bytes == 0 || left_ > (length_bytes == 2 ? 125 : 65535);
  const bool begins = opcode_ == WebSocketOpcode::text || opcode_ == WebSocketOpcode::binary;
  if (!shortest || left_ >> 63 != 0 || (is_control(opcode_) && (!final_ || left_ > kMostControl)) ||
      (begins && in_message_) || (opcode_ == WebSocketOpcode::continuation && !in_message_)) {
    fail(websocket_code::kProtocolError);
  } else if (!is_control(opcode_) && left_ > most_message_ - message_.size()) {
    fail(websocket_code::kTooLarge);
  } else if (begins) {
    in_message_ = true;
    message_opcode_ = opcode_;
  }
  return true;
}

void WebSocketParser::end_frame() {
  in_frame_ = false;
  if (is_control(opcode_)) {
    payload_ = std::exchange(control_, {});
    if (opcode_ == WebSocketOpcode::close) return end_close();
    event_ = opcode_ == WebSocketOpcode::ping ? Event::ping : Event::pong;
    return;
  }
  if (!final_) return;
  in_message_ = false;
  payload_ = std::exchange(message_, {});
  event_ = message_opcode_ == WebSocketOpcode::text ? Event::text : Event::binary;
  if (event_ == Event::text && !is_utf8(payload_)) fail(websocket_code::kBadData);
}

void WebSocketParser::end_close() {
  event_ = Event::close;
  code_ = websocket_code::kNone;
  if (payload_.empty()) return;
  if (payload_.size() == 1) return fail(websocket_code::kProtocolError);
  const auto code = static_cast<uint16_t>(big_endian(std::string_view(payload_).substr(0, 2)));
  payload_.erase(0, 2);
  if (!is_sendable(code)) return fail(websocket_code::kProtocolError);
  if (!is_utf8(payload_)) return fail(websocket_code::kBadData);
  code_ = code;
}

std::string websocket_frame(WebSocketOpcode opcode, std::string_view payload) {
  std::string frame;
  frame.reserve(payload.size() + 10);
  frame += static_cast<char>(0x80 | static_cast<uint8_t>(opcode));
  const size_t length_bytes = payload.size() < 126 ? 0 : payload.size() < 65536 ? 2 : 8;
  frame += static_cast<char>(length_bytes == 0 ? payload.size() : length_bytes == 2 ? 126 : 127);
  for (size_t i = length_bytes; i-- > 0;) {
    frame += static_cast<char>(payload.size() >> (8 * i) & 0xff);
  }
  frame += payload;
  return frame;
}

std::string websocket_close_frame(uint16_t code, std::string_view reason) {
  if (code == websocket_code::kNone) return websocket_frame(WebSocketOpcode::close, {});
  std::string payload = {static_cast<char>(code >> 8), static_cast<char>(code & 0xff)};
  size_t end = std::min(reason.size(), kMostControl - 2);
  while (end > 0 && !is_utf8(reason.substr(0, end))) --end;
  payload += reason.substr(0, end);
  return websocket_frame(WebSocketOpcode::close, payload);
}

std::string websocket_accept(std::string_view key) {
  unsigned char nonce[18];  // EVP_DecodeBlock counts the padding as bytes
  if (key.size() != 24 || !key.ends_with("==") ||
      ::EVP_DecodeBlock(nonce, reinterpret_cast<const unsigned char*>(key.data()), 24) != 18) {
    return {};
  }
  std::string text(key);
  text += "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (::EVP_Digest(text.data(), text.size(), digest, &size, ::EVP_sha1(), nullptr) != 1) return {};
  unsigned char accept[32];
  const int length = ::EVP_EncodeBlock(accept, digest, static_cast<int>(size));
  return {reinterpret_cast<const char*>(accept), static_cast<size_t>(length)};
}

}  // namespace hoist::net
