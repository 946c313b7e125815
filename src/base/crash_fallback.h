// A crash of an engine that has changed nothing yet: the original runs instead, as if we had not
// been there.
//
// An engine runs in its own process, in place of a program. As long as it has written nothing, and
// read nothing that can be read only once, that program can still be started: a handler for the
// signals of faults, and a terminate handler, does so. The engine says when that time is over by
// commit_run(); from then on a crash is a crash, for what came out cannot be taken back. The record
// that `hoist run --stats` and
// --explain show, and the log, say what happened.
//
// The handler has a stack of its own on the first thread only: a stack that overflows on another
// ends the engine.
//
// Not under AddressSanitizer and ThreadSanitizer, which are to report the fault.
#pragma once

#include <signal.h>

#include <string>

namespace hoist {

// `original`: the path of the program to start instead, with `argv`, which must stay. Nothing
// happens where it is empty.
void watch_for_crashes(const std::string& original, char** argv);

// Call before the first byte is written, and before anything else that cannot be undone. Cheap
// enough to be called before every write, from any thread.
void commit_run();
// The same before reading from `fd`, where what is read cannot be read again. Standard input that
// is a regular file counts as rereadable: it is put back to where it stood.
void commit_run_unless_rereadable(int fd);

// A file that is to be removed before the original starts; null: there is none. The text must stay.
void remove_on_crash(const char* path);

// Starts the original where that is still possible: for an engine that runs out of memory. `reason`
// has at most 60 bytes. Otherwise returns.
void run_original_instead(const char* reason);

// What threads of ours block, so that the program's signals go to its own threads: all signals, but
// in an engine that watches for crashes not those of faults, which end a thread that blocks them.
sigset_t signals_for_threads_to_block();

}  // namespace hoist
