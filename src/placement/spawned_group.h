// The program that is being measured, with all that it starts: a process group of its own, which
// whoever ends the measurement can end.
#pragma once

#include <spawn.h>
#include <sys/types.h>

namespace hoist::placement {

// posix_spawn(3) into a new process group, which end_spawned_group() knows from before the program
// runs until release_spawned_group(). One at a time. Gives errno's number, 0 for success.
int spawn_in_group(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                   char* const* words, char* const* environment);

// The program has ended, and is not waited for yet: until then no other gets its number.
void release_spawned_group();

// Kills the group and waits until its program is gone. A signal handler may call it, on any thread,
// also while the program is being started. Nothing where there is none.
void end_spawned_group();

}  // namespace hoist::placement
