#include "service/tokens.h"

#include <fmt/core.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <strings.h>
#include <sys/stat.h>

#include <utility>

#include "base/file.h"

namespace hoist::service {
namespace {

constexpr size_t kMostFile = 1 << 20;
constexpr size_t kLeastToken = 16;  // bytes; shorter ones can be guessed

}  // namespace

Tokens::Digest Tokens::digest(std::string_view token) {
  Digest digest = {};
  EVP_Digest(token.data(), token.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return digest;
}

Status Tokens::load(const std::string& file) {
  struct stat facts = {};
  if (::stat(file.c_str(), &facts) == 0 && (facts.st_mode & S_IROTH) != 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("everybody may read the tokens in {}: chmod 600 it", file));
  }
  Result<std::string> text = read_file(file, kMostFile);
  if (!text) return text.error();
  std::vector<Digest> digests;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    if (line.size() < kLeastToken) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{} has a token of {} bytes: at least {}, such as `openssl rand -hex "
                              "32` prints",
                              file, line.size(), kLeastToken));
    }
    digests.push_back(digest(line));
  }
  OPENSSL_cleanse(text->data(), text->size());
  if (digests.empty()) {
    return fail(ErrorCode::invalid_argument, fmt::format("{} has no token, one a line", file));
  }
  const std::lock_guard lock(mutex_);
  digests_ = std::move(digests);
  return {};
}

// Looks at all of them, so that time tells nothing.
bool Tokens::is_known(std::string_view token) const {
  const Digest asked = digest(token);
  const std::lock_guard lock(mutex_);
  int known = 0;
  for (const Digest& digest : digests_) {
    known |= CRYPTO_memcmp(asked.data(), digest.data(), digest.size()) == 0 ? 1 : 0;
  }
  return known != 0;
}

std::optional<net::HttpResponse> Tokens::check(const net::HttpRequest& request) const {
  constexpr std::string_view kScheme = "Bearer ";
  // The page itself tells nothing; what it asks for does.
  if (request.path == "/" || request.path == "/status.js") return std::nullopt;
  const std::string* given = request.header("authorization");
  if (given != nullptr && given->size() > kScheme.size() &&
      ::strncasecmp(given->data(), kScheme.data(), kScheme.size()) == 0 &&
      is_known(std::string_view(*given).substr(kScheme.size()))) {
    return std::nullopt;
  }
  const std::string* token = request.argument("token");
  if (token != nullptr && request.path == "/ws/events" && is_known(*token)) return std::nullopt;
  net::HttpResponse response = net::http_error(401, "Send Authorization: Bearer TOKEN");
  response.headers.push_back({"www-authenticate", "Bearer"});
  return response;
}

}  // namespace hoist::service
