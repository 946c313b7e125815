// Running one program as a child that behaves as if it had been started without us in between.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace hoist::cli {

// Replaces this process by the program. Returns only where that fails: prints why and gives 127
// where the program was not found, else 126, as env(1) does.
int execute_program(const std::vector<std::string>& program);

// Runs the program as a child and waits for it; gives its status as waitpid() does.
//
// The child stays in our process group, so what the terminal or `kill 0` sends to the group reaches
// it directly. Signals sent to us alone are passed on. When the terminal stops the child we stop,
// so that the shell's job control works. Afterwards SIGPIPE is ignored: a report that nobody reads
// must not cost the program its status. `in_child` is called in the child before the program
// starts. `exhausted` where there can be no child; then nothing has changed.
Result<int> run_child(const std::vector<std::string>& program,
                      const std::function<void()>& in_child = {});

// The exit status for `wait_status`; does not return where the child was killed by a signal: we
// then die of the same one, without a core file of our own.
int exit_status_of(int wait_status);

}  // namespace hoist::cli
