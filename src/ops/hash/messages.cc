#include "ops/hash/messages.h"

#include <libintl.h>

#include <clocale>
#include <cstdarg>
#include <cstdio>

namespace hoist::hash {
namespace {

constexpr char kDomain[] = "coreutils";

}  // namespace

void use_locale() {
  static const bool done = [] {
    std::setlocale(LC_ALL, "");
    bindtextdomain(kDomain, "/usr/share/locale");
    return true;
  }();
  (void)done;
}

const char* translate(const char* message) {
  use_locale();
  return dgettext(kDomain, message);
}

const char* translate(const char* singular, const char* plural, uint64_t count) {
  use_locale();
  return dngettext(kDomain, singular, plural, count);
}

std::string format(const char* pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  va_list again;
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, pattern, arguments);
  std::string text(static_cast<size_t>(size < 0 ? 0 : size), '\0');
  std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  va_end(arguments);
  return text;
}

}  // namespace hoist::hash
