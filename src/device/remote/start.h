// A hoistd of one's own, started where it is wanted first and gone soon after its last client.
//
//   Result<std::shared_ptr<RemoteDevice>> device = RemoteDevice::shared();
//   if (!device && start_private_daemon({})) …                    // this call: on the CPU
//
// For engines inside other people's programs: the daemon is nobody's child that the program could
// wait for or hear of, has a session, streams and a working directory of its own, and inherits no
// descriptor, signal mask, affinity or memory policy. Nothing of the program's threads, handlers
// and fork hooks runs. A program that has orphans given to it (PR_SET_CHILD_SUBREAPER) gets none,
// as it might wait for it; process 1 of a container, to which all orphans go, does.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"

namespace hoist::device::remote {

struct StartOptions {
  std::string program;                // empty: bin/hoistd of the tree that this code lies in
  std::string device = "auto";        // --device
  std::string socket;                 // empty: the first of socket_paths()
  std::chrono::seconds idle{10};      // without clients, before it ends
  std::chrono::milliseconds wait{0};  // for it to answer; a CUDA context takes 300 ms
};

// Starts one at its socket unless one answers there, or for an empty path at any of socket_paths().
// `unavailable` where Hoist is switched off, there is no program, or none answers after the wait; a
// wait of 0 does not ask. `invalid_argument` for a path that no socket can have.
Status start_private_daemon(const StartOptions& options);

}  // namespace hoist::device::remote
