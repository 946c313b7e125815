#include "cli/bench/names.h"

#include <algorithm>
#include <utility>

namespace hoist::cli {
namespace {

// Whether `name` has the components `before`, any one or more, and `after`.
bool fits(const PeerName& peer, std::string_view name) {
  const std::string head = peer.before + "/";
  const std::string tail = peer.after.empty() ? "" : "/" + peer.after;
  return name.size() > head.size() + tail.size() && name.starts_with(head) && name.ends_with(tail);
}

}  // namespace

std::optional<PeerName> parse_peer(std::string_view benchmark) {
  for (const std::string_view mark : {"/peer:", "/peer/"}) {
    const size_t at = benchmark.find(mark);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = benchmark.substr(at + mark.size());
    const size_t end = std::min(rest.find('/'), rest.size());
    return PeerName{std::string(benchmark.substr(0, at)), std::string(rest.substr(0, end)),
                    std::string(rest.substr(std::min(end + 1, rest.size())))};
  }
  return std::nullopt;
}

std::vector<size_t> peers_of(size_t index, std::span<const std::string> names) {
  if (parse_peer(names[index])) return {};
  std::vector<size_t> nearest;
  size_t shared = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::optional<PeerName> peer = parse_peer(names[i]);
    if (!peer || !fits(*peer, names[index]) || peer->before.size() < shared) continue;
    if (peer->before.size() > shared) nearest.clear();
    shared = peer->before.size();
    nearest.push_back(i);
  }
  return nearest;
}

std::vector<std::string> select_benchmarks(std::span<const std::string> names,
                                           std::span<const std::string> areas,
                                           const std::regex& filter) {
  std::vector<bool> wanted(names.size(), false);
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string area = names[i].substr(0, names[i].find('/'));
    if (!areas.empty() && std::ranges::find(areas, area) == areas.end()) continue;
    if (!std::regex_search(names[i], filter)) continue;
    wanted[i] = true;
    for (const size_t peer : peers_of(i, names)) wanted[peer] = true;
  }
  std::vector<std::string> selected;
  for (size_t i = 0; i < names.size(); ++i) {
    if (wanted[i]) selected.push_back(names[i]);
  }
  return selected;
}

std::string pattern_of(std::span<const std::string> names) {
  std::string pattern = "^(";
  for (const std::string& name : names) {
    if (pattern.back() != '(') pattern += '|';
    for (const char c : name) {
      if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) pattern += '\\';
      pattern += c;
    }
  }
  return pattern + ")$";
}

}  // namespace hoist::cli
