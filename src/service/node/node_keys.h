// Keys of the service's store, and the folders of nodes. A node's number is part of its keys and of
// its folder's name, and another one after each clear-all, so that what was is never taken for what
// is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hoist::service {

namespace keys {
inline const std::string kAffinity = "a";       // number, symbol, emotive: the sum, a double
inline const std::string kFinalized = "f";      // number: there where its training was finalised
inline const std::string kNode = "n";           // name of the node: its number
inline const std::string kSession = "S";        // id of the session: entries (session_entries.h)
inline const std::string kSessionRecord = "s";  // id of the session: a record of earlier versions
inline const std::string kVector = "v";         // number, name: the doubles
}  // namespace keys

// Eight bytes, big-endian.
std::string node_key_part(uint64_t number);
std::optional<uint64_t> parse_node_number(std::string_view bytes);

// FOLDER/nodes/NAME-NUMBER: of the name only what is harmless in a path, for people.
std::string node_folder(std::string_view folder, std::string_view node, uint64_t number);
// Under the service's folder: indexes and snapshots that are being made, and what is being deleted.
// Nothing in it was acknowledged; a start empties it.
inline constexpr const char* kUnfinished = "/unfinished";
// The number of such a folder's name.
std::optional<uint64_t> number_of_folder(std::string_view name);

}  // namespace hoist::service
