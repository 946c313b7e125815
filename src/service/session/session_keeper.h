// Writes sessions that are to survive a restart, each time what has changed of them. One that keeps
// none does nothing.
#pragma once

#include "base/result.h"
#include "service/node/side_store.h"
#include "service/session/session_table.h"

namespace hoist::service {

class SessionKeeper {
 public:
  // `store` null: sessions are gone when the service ends.
  explicit SessionKeeper(SideStore* store) : store_(store) {}

  // After each change, with the session's mutex held; what was answered has to be there. Where that
  // fails the session is again what is written of it.
  Status keep(Session& session);
  // After each access, without that mutex: a session that is only read lives longer, too. Writes
  // once an eighth of its time was added since the last write; a fault is logged.
  void keep_time(Session& session);
  // Likewise, whatever was added: before the service ends.
  void keep_times(SessionTable& table);
  // Without that mutex. What a request that is still under way would keep is not written any more.
  // Where that fails the session goes on.
  Status forget(Session& session);
  // Puts all that are alive into the table, and takes away the others. Those that an earlier
  // version wrote are written anew.
  Status restore(SessionTable& table);

 private:
  void read_back(Session& session) const;
  Status restore_entries(SessionTable& table);
  Status restore_records(SessionTable& table);

  SideStore* const store_;
};

}  // namespace hoist::service
