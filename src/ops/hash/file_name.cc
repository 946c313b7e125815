#include "ops/hash/file_name.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <cwctype>

#include "ops/hash/messages.h"

namespace hoist::hash {
namespace {

// Characters that make quotes necessary and that the double-quoted form cannot hold. Of braces,
// tilde and hash the latter alone is true everywhere, or at the beginning.
constexpr std::string_view kShellSpecial = "!\"$&()*;<=>?[\\^`|";

// Characters that make quotes necessary only where a shell would act on them, tilde and hash at the
// beginning, braces alone; anywhere else all they do is to rule out the double-quoted form.
constexpr std::string_view kPlaceDependent = "~#{}";

bool acts_on_first(std::string_view name) {
  return name[0] == '~' || name[0] == '#' || name == "{" || name == "}";
}

// Calls visit(bytes, printable) for each character of the current locale in `text`. A byte that
// belongs to no character stands alone; an incomplete character at the end stands as a whole.
template <typename Visit>
void for_each_character(std::string_view text, Visit visit) {
  if (MB_CUR_MAX == 1) {
    for (size_t i = 0; i < text.size(); ++i) {
      visit(text.substr(i, 1), std::isprint(static_cast<unsigned char>(text[i])) != 0);
    }
    return;
  }
  mbstate_t state{};
  for (size_t i = 0; i < text.size();) {
    wchar_t wide;
    size_t length = std::mbrtowc(&wide, text.data() + i, text.size() - i, &state);
    bool printable = false;
    if (length == static_cast<size_t>(-1)) {
      state = mbstate_t{};
      length = 1;
    } else if (length == static_cast<size_t>(-2)) {
      length = text.size() - i;
    } else {
      length = length == 0 ? 1 : length;
      printable = std::iswprint(static_cast<wint_t>(wide)) != 0;
    }
    visit(text.substr(i, length), printable);
    i += length;
  }
}

struct Traits {
  bool needs_quotes = false;
  bool has_single_quote = false;
  bool fits_double_quotes = true;
  bool ends_unprintable = false;
};

Traits examine(std::string_view name) {
  Traits traits;
  traits.needs_quotes = name.empty() || acts_on_first(name);
  const char* const begin = name.data();
  for_each_character(name, [&](std::string_view character, bool printable) {
    const char c = character[0];
    traits.ends_unprintable = !printable;
    if (c == '\'') {
      traits.has_single_quote = true;
      traits.needs_quotes = true;
    } else if (!printable || kShellSpecial.find(c) != std::string_view::npos) {
      traits.fits_double_quotes = false;
      traits.needs_quotes = true;
    } else if (c == ' ' || c == ':') {
      traits.needs_quotes = true;
    } else if (kPlaceDependent.find(c) != std::string_view::npos) {
      const bool acts = character.data() == begin && acts_on_first(name);
      traits.fits_double_quotes &= acts;
    }
  });
  return traits;
}

void append_escape(std::string_view bytes, std::string& out) {
  for (const char c : bytes) {
    static constexpr std::string_view kControls = "\a\b\t\n\v\f\r";
    const size_t at = kControls.find(c);
    out += '\\';
    if (at != std::string_view::npos) {
      out += "abtnvfr"[at];
    } else {
      char octal[4];
      std::snprintf(octal, sizeof octal, "%03o", static_cast<unsigned char>(c));
      out += octal;
    }
  }
}

}  // namespace

bool needs_escape(std::string_view name) {
  return name.find_first_of("\\\n\r") != std::string_view::npos;
}

std::string escape_name(std::string_view name) {
  std::string out;
  out.reserve(name.size() + 8);
  for (const char c : name) {
    switch (c) {
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::optional<std::string> unescape_name(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\0') return std::nullopt;
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    switch (text[i]) {
      case '\\':
        out += '\\';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      default:
        return std::nullopt;
    }
  }
  return out;
}

std::string quote_name(std::string_view name) {
  use_locale();
  const Traits traits = examine(name);
  if (!traits.needs_quotes) return std::string(name);
  if (traits.has_single_quote && traits.fits_double_quotes) {
    return '"' + std::string(name) + '"';
  }
  // Where a single quote made coreutils look for a shorter form in vain and the name ends with an
  // unprintable character, its second attempt starts out believing that a $'' part is open.
  bool escaping = traits.has_single_quote && traits.ends_unprintable;
  std::string out = "'";
  for_each_character(name, [&](std::string_view character, bool printable) {
    if (!printable) {
      if (!escaping) out += "'$'";
      escaping = true;
      append_escape(character, out);
    } else if (character == "'") {
      out += "'\\''";
      escaping = false;
    } else {
      if (escaping) out += "''";
      escaping = false;
      out += character;
    }
  });
  out += '\'';
  return out;
}

}  // namespace hoist::hash
