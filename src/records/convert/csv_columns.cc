#include <algorithm>

#include "records/convert/csv_form.h"

namespace hoist::records {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Which of the keys of its name each one is.
std::vector<size_t> occurrences(const std::vector<std::string>& keys) {
  std::vector<size_t> found;
  std::unordered_map<std::string_view, size_t> seen;
  for (const std::string& key : keys) found.push_back(seen[key]++);
  return found;
}

}  // namespace

// Keys get columns such that as many records as may be have theirs in the order of the header: a
// new one goes in front of the next key that the header has behind the last. That leaves the
// order of those before as it was, so records that fitted still do.
Status CsvColumns::add(const std::vector<std::string>& keys) {
  has_empty_ |= keys.empty();
  const std::vector<size_t> nth = occurrences(keys);
  const auto place_of = [&](size_t i) {
    const auto found = places_.find(keys[i]);
    return found == places_.end() || nth[i] >= found->second.size() ? kNone : found->second[nth[i]];
  };
  size_t next = 0;  // the first column that may follow
  bool at_end = false;
  for (size_t i = 0; i < keys.size(); ++i) {
    const uint32_t place = place_of(i);
    if (place != kNone) {
      is_mixed_ |= place < next;
      next = std::max<size_t>(next, place + 1);
      continue;
    }
    if (keys_.size() == kMaxCsvColumns) {
      return fail(ErrorCode::unsupported, "a CSV would have more than " +
                                              std::to_string(kMaxCsvColumns) +
                                              " columns: choose another format");
    }
    size_t before = keys_.size();
    for (size_t j = i + 1; !at_end && j < keys.size(); ++j) {
      const uint32_t later = place_of(j);
      if (later != kNone && later >= next) {
        before = later;
        break;
      }
    }
    at_end |= before == keys_.size();
    insert(before, keys[i]);
    next = before + 1;
  }
  return {};
}

void CsvColumns::insert(size_t place, const std::string& key) {
  if (place < keys_.size()) {
    for (auto& [name, places] : places_) {
      for (uint32_t& other : places) other += other >= place ? 1 : 0;
    }
  }
  keys_.insert(keys_.begin() + static_cast<ptrdiff_t>(place), key);
  places_[key].push_back(static_cast<uint32_t>(place));
}

// A record without keys would be a blank line where there is one column, or none.
bool CsvColumns::needs_order() const { return is_mixed_ || (has_empty_ && keys_.size() < 2); }

}  // namespace hoist::records
