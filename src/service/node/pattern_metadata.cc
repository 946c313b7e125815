#include "service/node/pattern_metadata.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "match/json/json_text.h"
#include "service/session/client_json.h"

namespace hoist::service {
namespace {

using Values = std::vector<std::string_view>;

Error too_much(size_t most) {
  return fail(ErrorCode::invalid_argument,
              fmt::format("the pattern would have more than {} MiB of metadata: learn it with "
                          "less, or delete the pattern first",
                          most >> 20));
}

// The strings of a list, ascending, each once. The service wrote them so, others one by itself.
Values strings_of(const ClientJson& list) {
  if (const auto text = list.string()) return {*text};
  Values values;
  values.reserve(list.items().size());
  for (const ClientJson value : list.items()) {
    if (const auto text = value.string()) values.push_back(*text);
  }
  if (!std::is_sorted(values.begin(), values.end())) std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

class MetadataText {
 public:
  explicit MetadataText(size_t most) : most_(most) {}

  bool fits() const { return out_.size() <= most_; }
  void add(std::string_view key, const Values& values) {
    out_ += out_.size() > 1 ? "," : "";
    match::append_json_string(out_, key);
    out_ += ":[";
    for (size_t i = 0; i < values.size() && fits(); ++i) {
      if (i > 0) out_ += ',';
      match::append_json_string(out_, values[i]);
    }
    out_ += ']';
  }
  Result<std::string> take() && {
    out_ += '}';
    if (!fits()) return too_much(most_);
    return std::move(out_);
  }

 private:
  size_t most_;
  std::string out_ = "{";
};

}  // namespace

size_t metadata_bytes(const PatternMetadata& metadata) {
  constexpr size_t kKey = 5, kValue = 2;  // quotes, a colon, brackets
  size_t bytes = 0;
  for (const auto& [key, values] : metadata) {
    bytes += key.size() + kKey;
    for (const std::string& value : values) bytes += value.size() + kValue;
  }
  return bytes;
}

Result<std::string> merge_metadata(std::string_view before, const PatternMetadata& more,
                                   size_t most) {
  if (metadata_bytes(more) > most) return too_much(most);
  JsonDocument document;
  ClientJson::Members old;
  if (!before.empty()) {
    if (document.parse(before, 0, SIZE_MAX)) {
      return fail(ErrorCode::corrupt, "what the index has of the pattern's metadata is no JSON");
    }
    old = document.root().members();
  }
  MetadataText text(most);
  auto known = old.begin();
  for (const auto& [key, values] : more) {
    for (; known != old.end() && known->first < key && text.fits(); ++known) {
      text.add(known->first, strings_of(known->second));
    }
    Values merged(values.begin(), values.end());
    if (known != old.end() && known->first == key) {
      const Values there = strings_of((known++)->second);
      const Values added = std::exchange(merged, {});
      std::set_union(there.begin(), there.end(), added.begin(), added.end(),
                     std::back_inserter(merged));
    }
    text.add(key, merged);
  }
  for (; known != old.end() && text.fits(); ++known) {
    text.add(known->first, strings_of(known->second));
  }
  return std::move(text).take();
}

}  // namespace hoist::service
