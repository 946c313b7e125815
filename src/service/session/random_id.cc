#include "service/session/random_id.h"

#include <fmt/core.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace hoist::service {

std::string random_id() {
  std::array<uint64_t, 2> words = {};
  ssize_t got;
  do {
    got = ::getrandom(words.data(), sizeof words, 0);
  } while (got < 0 && errno == EINTR);
  // Up to 256 bytes come whole (getrandom(2)); an id that can be guessed must not be given.
  if (got != static_cast<ssize_t>(sizeof words)) std::abort();
  return fmt::format("{:016x}{:016x}", words[0], words[1]);
}

}  // namespace hoist::service
