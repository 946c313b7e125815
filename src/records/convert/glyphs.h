// The glyphs that stand for keys and values, as the Python modules loretoken_converter and
// saiql_delta.core.loretoken_symbolic have them.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace hoist::records {

struct Glyph {
  std::string_view word;
  std::string_view glyph;
};

// Keys of lts.
inline constexpr std::array<Glyph, 20> kPairGlyphs = {{
    {"id", "🔑"},          {"name", "📛"},        {"type", "🏷"},      {"value", "💎"},
    {"timestamp", "⏱"},   {"status", "📊"},      {"priority", "⚡"},     {"category", "📁"},
    {"description", "📝"}, {"user", "👤"},        {"action", "⚙"},       {"data", "💾"},
    {"config", "⚙️"}, {"error", "❌"},       {"warning", "⚠️"}, {"info", "ℹ️"},
    {"success", "✅"},     {"count", "#️⃣"}, {"size", "📏"},         {"path", "📂"},
}};
// Some of them without U+FE0F, which are read as well.
inline constexpr std::array<Glyph, 3> kPairVariants = {
    {{"info", "ℹ"}, {"warning", "⚠"}, {"count", "#⃣"}}};

// What sym has for types, keys, symbols and states. No key's glyph begins as another does.
inline constexpr std::array<Glyph, 5> kTypes = {
    {{"RECORD", "⟐"}, {"TABLE", "⊤"}, {"META", "◊"}, {"TRANSACTION", "⟡"}, {"CHECKPOINT", "⟢"}}};
inline constexpr std::array<Glyph, 15> kFields = {{
    {"symbol", "§"},
    {"timestamp", "⏱"},
    {"open", "↗"},
    {"high", "⤊"},
    {"low", "⤋"},
    {"close", "↘"},
    {"volume", "▣"},
    {"granularity", "⌘"},
    {"created", "⊱"},
    {"version", "⋁"},
    {"compression", "⊜"},
    {"tables", "⊞"},
    {"hash", "♯"},
    {"count", "№"},
    {"schema", "⊡"},
}};
inline constexpr std::array<Glyph, 10> kTickers = {{
    {"BTC-USD", "₿"},
    {"ETH-USD", "Ξ"},
    {"SOL-USD", "◎"},
    {"XRP-USD", "✕"},
    {"DOGE-USD", "Ð"},
    {"ADA-USD", "₳"},
    {"AVAX-USD", "△"},
    {"DOT-USD", "●"},
    {"MATIC-USD", "▽"},
    {"LINK-USD", "⬡"},
}};
inline constexpr std::array<Glyph, 6> kStatuses = {{{"ACTIVE", "✓"},
                                                    {"INACTIVE", "✗"},
                                                    {"COMMITTED", "◉"},
                                                    {"PENDING", "◯"},
                                                    {"FAILED", "⊗"},
                                                    {"WARNING", "⚠"}}};

// Empty where there is none.
inline std::string_view glyph_of(std::span<const Glyph> glyphs, std::string_view word) {
  for (const Glyph& each : glyphs) {
    if (each.word == word) return each.glyph;
  }
  return {};
}
inline std::string_view word_of(std::span<const Glyph> glyphs, std::string_view glyph) {
  for (const Glyph& each : glyphs) {
    if (each.glyph == glyph) return each.word;
  }
  return {};
}

}  // namespace hoist::records
