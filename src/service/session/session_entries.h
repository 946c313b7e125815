// A durable session as entries of the service's store, so that a request writes what it changed,
// however much the session remembers:
//
//   head                   times, and which numbers the elements of its lists have
//   base                   what never changes
//   config, last           what it set, and its last observation, where there is any
//   events, emotives, …    an entry for each element of a list, by its number
//
// The entries of one batch are there together or not at all, so that the head always fits the rest.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "service/node/side_store.h"
#include "service/session/session.h"

namespace hoist::service {

// With the session's mutex held. What differs from session.kept; the answer takes its place once
// the batch is written.
std::unique_ptr<KeptSession> put_changes(const Session& session, SideStore::Batch& batch);
// With that mutex held, too: all of session.kept.
void remove_entries(const Session& session, SideStore::Batch& batch);

// What the keys of all entries of a session begin with.
std::string entries_prefix(std::string_view id);

// Entries that belong to one session, in the order of their keys.
struct SessionEntries {
  struct Entry {
    std::string part;  // of the key, what follows the id
    std::string value;
  };
  std::string id;
  std::vector<Entry> entries;

  // `corrupt` for anything that put_changes() does not write.
  Result<std::shared_ptr<Session>> read() const;
  void remove(SideStore::Batch& batch) const;
};

}  // namespace hoist::service
