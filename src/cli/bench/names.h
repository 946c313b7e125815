// What the name of a benchmark says: AREA/SUBJECT/…/VARIANT. A peer, beside which others are shown,
// has a component "peer:NAME" in place of one or more of theirs:
//
//   codec/parity/encode/10+4        is shown beside      codec/parity/peer:isal/10+4
//   codec/planes/split/memory                            codec/planes/peer:memcpy/memory
//
// A peer belongs to every benchmark whose name begins with what stands before that component and
// ends with what follows it; where several do, to those that share the most leading components.
// ".../peer/NAME/..." is read as ".../peer:NAME/...".
#pragma once

#include <cstddef>
#include <optional>
#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hoist::cli {

struct PeerName {
  std::string before;  // "codec/parity"
  std::string peer;    // "isal"
  std::string after;   // "10+4", or empty
};

// Nothing where the benchmark is no peer.
std::optional<PeerName> parse_peer(std::string_view benchmark);

// Places in `names` of the peers of names[index], nearest ones only, in the order of `names`; none
// for a peer.
std::vector<size_t> peers_of(size_t index, std::span<const std::string> names);

// The names whose first component is among `areas` (empty: all) and in which `filter` is found,
// and their peers, in the order of `names`.
std::vector<std::string> select_benchmarks(std::span<const std::string> names,
                                           std::span<const std::string> areas,
                                           const std::regex& filter);

// A regular expression that matches exactly these names.
std::string pattern_of(std::span<const std::string> names);

}  // namespace hoist::cli
