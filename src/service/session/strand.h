// The uses of one session, one after the other: a strand, as Asio calls it. A request that takes
// seconds holds up those of its own session, and no others: who comes meanwhile is a closure, and
// takes no thread. Only for a use that is over in a moment a thread waits: to come back to a busy
// loop takes longer.
//
//   Strand::use({session, &session->strand}, [](Strand::Use use) { … });
//
// Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

namespace hoist::service {

class Strand {
 public:
  using Use = std::shared_ptr<const void>;  // lasts until its last copy is gone
  using Next = std::function<void(Use)>;

  // Null where somebody uses it for long, or waits for it. Waits for a use of this kind on another
  // thread, until it is over or goes on.
  static Use try_use(const std::shared_ptr<Strand>& strand);
  // The use that try_use() gave goes on when its thread is done with it.
  void go_on();
  // Calls `next` at once where nobody uses it. Else once all who came before are done, on the
  // thread of the last of them: it must not take long. False where `most` wait already, and `next`
  // is not called.
  static bool use(const std::shared_ptr<Strand>& strand, Next next, size_t most = SIZE_MAX);
  bool is_idle() const;

 private:
  static Use begin(std::shared_ptr<Strand> strand);
  static void end(const std::shared_ptr<Strand>& strand);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Next> waiting_;
  bool is_used_ = false;
  bool is_over_soon_ = false;
  bool is_handing_on_ = false;  // one thread does, so that uses that end at once do not nest
};

}  // namespace hoist::service
