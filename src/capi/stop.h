// Stopping calls: by what a progress function answers, or by another thread's cancellation.
#pragma once

#include <memory>
#include <stop_token>

#include "base/result.h"
#include "container/source.h"
#include "hoist/hoist.h"

struct hoist_cancellation {
  std::stop_source source;
};

namespace hoist::capi {

// The token of null never stops.
std::stop_token token_of(const hoist_cancellation* cancellation);

// One call's. The progress function is called by one thread at a time; everything else by any.
class Stop {
 public:
  Stop(hoist_progress_function* progress, void* context, const hoist_cancellation* cancellation);

  // Tells the caller, and remembers its wish to stop.
  void report(uint64_t done, uint64_t total);

  bool is_wanted() const { return source_.stop_requested(); }
  // `cancelled` once it is wanted.
  Status status() const;
  std::stop_token token() const { return source_.get_token(); }

 private:
  struct Forward {
    std::stop_source* to;
    void operator()() const { to->request_stop(); }
  };

  hoist_progress_function* progress_;
  void* context_;
  std::stop_source source_;
  std::stop_callback<Forward> forward_;  // from the cancellation
};

// A source whose reads fail once `stop` is wanted; it must outlive the source.
std::unique_ptr<container::Source> stoppable(std::unique_ptr<container::Source> source,
                                             const Stop& stop);

}  // namespace hoist::capi
