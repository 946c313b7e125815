// Drops what an array's memory belongs to, which may keep another array, and so on without end.
#pragma once

namespace hoist::python {

// drop(kept), which may drop others by this function: at once, or, where many of this thread's are
// not done yet, after them. So chains of any length need little of the stack. `drop` takes the
// interpreter's lock itself, if it needs it.
void drop_in_turn(void* kept, void (*drop)(void*)) noexcept;

}  // namespace hoist::python
