// Signals that end a command, noted so that it first removes what it has begun.
//
//   catch_interrupts();
//   const Status done = work();                 // asks is_interrupted() now and then
//   return end_if_interrupted(status_of(done)); // by that signal, as callers expect
#pragma once

namespace hoist::cli {

// From now on SIGHUP, SIGINT and SIGTERM are noted instead of ending the process, and system calls
// that wait fail with EINTR. A second one, whichever, ends the process at once. Those that are
// ignored stay so (nohup).
void catch_interrupts();

// What a signal ends besides, before anything else: a program that the command runs, say. A signal
// handler calls it, on any thread; null: nothing.
void end_when_interrupted(void (*end)());

// A directory that goes, with all that it holds, where a second signal ends the process; null:
// none. The text must live until the next call. It goes when the process has ended, since until
// then its threads may write into it; standard error stays open until it is gone.
void remove_when_ended(const char* directory);

bool is_interrupted();

// Ends the process by the signal that came, or gives `status` if none did.
int end_if_interrupted(int status);

}  // namespace hoist::cli
