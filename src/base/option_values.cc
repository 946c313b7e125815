#include "base/option_values.h"

#include <fmt/core.h>
#include <strings.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <string_view>

namespace hoist {
namespace {

constexpr size_t kShown = 100;  // characters of a value

template <typename Number>
std::optional<Number> parse(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// Blanks around a number, and a plus before it, say nothing.
std::string_view bare(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  text.remove_suffix(text.size() - (text.find_last_not_of(kBlanks) + 1));
  if (text.starts_with('+')) text.remove_prefix(1);
  return text;
}

bool is_number_from(uint64_t least, std::string_view text) {
  const std::optional<uint64_t> number = parse<uint64_t>(bare(text));
  return number && *number >= least;
}

// What is above 1 is all.
std::optional<double> share_of(std::string_view text) {
  const std::optional<double> share = parse<double>(text);
  return share && *share >= 0 ? std::optional(std::min(*share, 1.0)) : std::nullopt;
}

bool is_one_of(std::initializer_list<const char*> words, const char* text) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return ::strcasecmp(text, word) == 0; });
}

struct Rule {
  OptionId id;
  bool (*means_something)(const char* text);
  const char* is_not;   // "abc is no whole number from 1"
  const char* instead;  // "abc …: all usable CPUs count"
};

constexpr Rule kRules[] = {
    {OptionId::off,
     [](const char* text) {
       return is_one_of({"on", "1", "true", "yes", "off", "0", "false", "no"}, text);
     },
     "neither on nor off", "Hoist stays on"},
    {OptionId::gpu, [](const char* text) { return hoist_read_gpu_use(text) != HOIST_GPU_UNKNOWN; },
     "none of auto, off, require and inprocess", "auto counts"},
    {OptionId::log,
     [](const char* text) {
       return is_one_of({"error", "warn", "info", "debug"}, text);
     },
     "none of error, warn, info and debug", "warn counts"},
    {OptionId::verify, [](const char* text) { return share_of(text).has_value(); },
     "no share from 0 to 1", "nothing is verified"},
    {OptionId::threads, [](const char* text) { return is_number_from(1, text); },
     "no whole number from 1", "the CPUs that affinity and cgroup allow count"},
    {OptionId::isa,
     [](const char* text) {
       return is_one_of({"scalar", "avx2", "avx512"}, text);
     },
     "none of scalar, avx2 and avx512", "what the CPU has counts"},
    {OptionId::gemm_devices, [](const char* text) { return is_number_from(1, text); },
     "no whole number from 1", "all GPUs count"},
    {OptionId::gemm_precision,
     [](const char* text) {
       return is_one_of({"full", "tf32"}, text);
     },
     "neither full nor tf32", "full counts"},
    {OptionId::gemm_smallest, [](const char* text) { return is_number_from(0, text); },
     "no whole number", "134217728 counts"},
    {OptionId::graph_native,
     [](const char* text) {
       return is_one_of({"auto", "now", "off"}, text);
     },
     "none of auto, now and off", "auto counts"},
};

const char* variable_of(OptionId id) {
  for (const Option& option : options()) {
    if (option.id == id) return option.env;
  }
  return "";
}

}  // namespace

std::optional<uint64_t> option_number(OptionId id) {
  const std::optional<uint64_t> number = parse<uint64_t>(bare(option_text(id)));
  return number && *number > 0 ? number : std::nullopt;
}

hoist_gpu_use gpu_use() { return hoist_gpu_use_of(option_text(OptionId::gpu)); }

Isa most_isa() {
  const char* const text = option_text(OptionId::isa);
  if (::strcasecmp(text, "scalar") == 0) return Isa::scalar;
  return ::strcasecmp(text, "avx2") == 0 ? Isa::avx2 : Isa::avx512;
}

double verification_rate() { return share_of(option_text(OptionId::verify)).value_or(0); }

std::vector<std::string> unusable_option_values() {
  std::vector<std::string> lines;
  for (const Rule& rule : kRules) {
    const char* const text = option_text(rule.id);
    if (text[0] == '\0' || rule.means_something(text)) continue;
    lines.push_back(fmt::format("{} is {} ({}): {}", std::string_view(text).substr(0, kShown),
                                rule.is_not, variable_of(rule.id), rule.instead));
  }
  return lines;
}

}  // namespace hoist
