#include "ops/sort/messages.h"

#include <fmt/core.h>
#include <libintl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <cwchar>
#include <cwctype>

#include "base/crash_fallback.h"
#include "base/file.h"

namespace hoist::sort {
namespace {

// One character of a name: how many bytes it spans and whether it can be shown as it is.
struct Character {
  size_t bytes;
  bool printing;
};

Character decode(std::string_view rest, std::mbstate_t& state) {
  wchar_t wide = 0;
  const size_t bytes = std::mbrtowc(&wide, rest.data(), rest.size(), &state);
  if (bytes == 0) return {1, false};
  if (bytes == SIZE_MAX) {  // invalid: show the byte alone and go on behind it
    state = std::mbstate_t();
    return {1, false};
  }
  if (bytes == SIZE_MAX - 1) return {rest.size(), false};  // cut short by the end of the name
  return {bytes, std::iswprint(static_cast<wint_t>(wide)) != 0};
}

// What the shell would act on inside a word. The first group stays harmless in double quotes.
bool is_special(std::string_view name, size_t i) {
  if (std::strchr(" !\"$&'()*;<=>?[\\^`|:", name[i]) != nullptr) return true;
  if (name[i] == '#' || name[i] == '~') return i == 0;
  if (name[i] == '{' || name[i] == '}') return name.size() == 1;
  return false;
}

bool safe_in_double_quotes(std::string_view name, size_t i) {
  if (name[i] == '#' || name[i] == '~') return i == 0;
  return std::strchr("!\"$&()*;<=>?[\\^`{|}", name[i]) == nullptr;
}

struct Survey {
  bool needs_quotes = false;
  bool has_quote = false;
  bool fits_double_quotes = true;
  bool ends_in_escape = false;
};

Survey survey(std::string_view name) {
  Survey result;
  std::mbstate_t state{};
  for (size_t i = 0; i < name.size();) {
    const Character character = decode(name.substr(i), state);
    result.ends_in_escape = !character.printing;
    if (!character.printing) {
      result.needs_quotes = true;
      result.fits_double_quotes = false;
    } else if (character.bytes == 1) {
      result.needs_quotes |= is_special(name, i);
      result.has_quote |= name[i] == '\'';
      result.fits_double_quotes &= safe_in_double_quotes(name, i);
    }
    i += character.bytes;
  }
  return result;
}

void append_escape(std::string& out, unsigned char byte) {
  static constexpr std::string_view kNamed = "\a\b\t\n\v\f\r";
  const size_t named = kNamed.find(static_cast<char>(byte));
  if (named == std::string_view::npos) {
    out += fmt::format("\\{:03o}", byte);
  } else {
    out += '\\';
    out += "abtnvfr"[named];
  }
}

// 'text'$'\001\002''text': single quotes around what can be shown, $'' around the rest.
std::string single_quoted(std::string_view name, const Survey& survey) {
  std::string out = "'";
  // The original scans a name with a quote twice and starts the second time in the state in which
  // the first has ended.
  bool escaping = survey.has_quote && survey.ends_in_escape;
  std::mbstate_t state{};
  for (size_t i = 0; i < name.size();) {
    const Character character = decode(name.substr(i), state);
    if (!character.printing) {
      if (!escaping) out += "'$'";
      escaping = true;
      for (size_t j = 0; j < character.bytes; ++j) append_escape(out, name[i + j]);
    } else if (name[i] == '\'') {
      out += "'\\''";
      escaping = false;
    } else {
      if (escaping) out += "''";
      escaping = false;
      out += name.substr(i, character.bytes);
    }
    i += character.bytes;
  }
  return out + "'";
}

std::string quote(std::string_view name, const Survey& survey) {
  if (survey.has_quote && survey.fits_double_quotes) return fmt::format("\"{}\"", name);
  return single_quoted(name, survey);
}

}  // namespace

std::string quote_name(std::string_view name) {
  const Survey result = survey(name);
  if (!result.needs_quotes && !name.empty()) return std::string(name);
  return quote(name, result);
}

std::string always_quote_name(std::string_view name) { return quote(name, survey(name)); }

const char* translate(const char* message) { return ::dgettext("coreutils", message); }

std::string translate(const char* message, std::string_view argument) {
  std::string text = translate(message);
  const size_t place = text.find("%s");
  if (place != std::string::npos) text.replace(place, 2, argument);
  return text;
}

Error io_error(const char* what, std::string_view name, int errno_value) {
  return fail(
      ErrorCode::io,
      fmt::format("{}: {}: {}", translate(what), quote_name(name), std::strerror(errno_value)),
      errno_value);
}

void report(std::string_view program, const Error& error) {
  std::string text;
  for (std::string_view rest = error.message; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    text += fmt::format("{}: {}\n", program, rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  commit_run();
  // Nowhere to report a standard error that cannot be written.
  (void)write_full(STDERR_FILENO, text.data(), text.size());
}

}  // namespace hoist::sort
