#include "match/vocabulary/pattern.h"

#include <fmt/core.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "base/utf8.h"
#include "match/vocabulary/printable.h"

namespace hoist::match {
namespace {

constexpr char kHex[] = "0123456789abcdef";

void append_hex(uint32_t value, int digits, std::string& out) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
    out.push_back(kHex[value >> shift & 15]);
}

void append_escaped(uint32_t code_point, std::string& out) {
  switch (code_point) {
    case '\t':
      out += "\\t";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      break;
  }
  const bool byte = code_point < 0x100;
  const bool word = code_point < 0x10000;
  out += byte ? "\\x" : word ? "\\u" : "\\U";
  append_hex(code_point, byte ? 2 : word ? 4 : 8, out);
}

void append_string_repr(std::string_view text, std::string& out) {
  const bool single = text.find('\'') != std::string_view::npos;
  const char quote = single && text.find('"') == std::string_view::npos ? '"' : '\'';
  out.push_back(quote);
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    uint32_t code_point = 0;
    if (!next_code_point(text, at, code_point)) break;  // normalise() lets none through
    if (code_point == static_cast<uint32_t>(quote) || code_point == '\\') out.push_back('\\');
    if (is_printable(code_point)) {
      out.append(text, begin, at - begin);
    } else {
      append_escaped(code_point, out);
    }
  }
  out.push_back(quote);
}

// The algorithm is fetched once, the context once a thread: both cost more than the digest.
std::array<unsigned char, 20> sha1(std::string_view bytes) {
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA1", nullptr);
  thread_local const std::unique_ptr<EVP_MD_CTX, Free> context(EVP_MD_CTX_new());
  std::array<unsigned char, 20> digest{};
  EVP_DigestInit_ex(context.get(), algorithm, nullptr);
  EVP_DigestUpdate(context.get(), bytes.data(), bytes.size());
  EVP_DigestFinal_ex(context.get(), digest.data(), nullptr);
  return digest;
}

Status check_symbol(std::string_view symbol) {
  if (symbol.size() > kMaxSymbolBytes) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("a symbol of {} bytes: at most {}", symbol.size(), kMaxSymbolBytes));
  }
  if (!is_utf8(symbol)) {
    return fail(ErrorCode::invalid_argument, "a symbol that is no UTF-8: convert it first");
  }
  return {};
}

}  // namespace

PatternText pattern_of(const std::vector<std::vector<std::string>>& events) {
  PatternText pattern;
  for (const auto& event : events) {
    pattern.tokens.insert(pattern.tokens.end(), event.begin(), event.end());
    pattern.end_event();
  }
  return pattern;
}

Status normalise(PatternText& pattern, bool sort) {
  if (pattern.tokens.size() > std::numeric_limits<uint16_t>::max()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("a sequence of {} symbols: at most {}", pattern.tokens.size(),
                            std::numeric_limits<uint16_t>::max()));
  }
  for (const std::string_view symbol : pattern.tokens) {
    if (Status checked = check_symbol(symbol); !checked) return checked;
  }
  size_t kept = 0;
  uint32_t begin = 0;
  for (const uint32_t end : pattern.event_ends) {
    if (end == begin) continue;
    if (sort) std::sort(pattern.tokens.begin() + begin, pattern.tokens.begin() + end);
    pattern.event_ends[kept++] = end;
    begin = end;
  }
  pattern.event_ends.resize(kept);
  return {};
}

std::vector<uint16_t> event_sizes_of(const PatternText& pattern) {
  std::vector<uint16_t> sizes;
  sizes.reserve(pattern.event_ends.size());
  uint32_t begin = 0;
  for (const uint32_t end : pattern.event_ends) {
    sizes.push_back(static_cast<uint16_t>(end - begin));
    begin = end;
  }
  return sizes;
}

Status check_learnable(const PatternText& pattern, size_t least) {
  if (pattern.tokens.size() >= least) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("a pattern of {} symbols: at least {}", pattern.tokens.size(), least));
}

void append_python_repr(const PatternText& pattern, std::string& out) {
  out.push_back('[');
  uint32_t begin = 0;
  for (size_t i = 0; i < pattern.event_ends.size(); ++i) {
    out += i == 0 ? "[" : ", [";
    for (uint32_t t = begin; t < pattern.event_ends[i]; ++t) {
      if (t != begin) out += ", ";
      append_string_repr(pattern.tokens[t], out);
    }
    out.push_back(']');
    begin = pattern.event_ends[i];
  }
  out.push_back(']');
}

std::string pattern_name(const PatternText& pattern) {
  thread_local std::string text;
  text.clear();
  append_python_repr(pattern, text);
  std::string name;
  name.reserve(40);
  for (const unsigned char byte : sha1(text)) append_hex(byte, 2, name);
  return name;
}

}  // namespace hoist::match
