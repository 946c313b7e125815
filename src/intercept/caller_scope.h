/* Originals of libraries that a process may hold more than one copy of.
 *
 * The dynamic linker looks a symbol up in the global scope (the program, its libraries, and us) and
 * then in the scope of the library that calls. Modules that languages load with RTLD_LOCAL find
 * their library, or a copy that was linked into them, only in that second place; but with us in the
 * global scope they find our function first, and RTLD_NEXT leads nowhere from it. The code that
 * called us says where it would have looked. */
#ifndef HOIST_INTERCEPT_CALLER_SCOPE_H
#define HOIST_INTERCEPT_CALLER_SCOPE_H

/* The function `name` that the code at `caller`, a return address, would have called without us.
 * What the global scope has is kept in `*slot`, what only a caller's scope has for each place of a
 * call; `name` must be the same pointer each time. Where the caller's scope has none, `library`,
 * "libz.so.1", is asked, and then all that are loaded. Where none has it, the caller had but a weak
 * reference, and zlib and libzstd are loaded. Null where there is none. Any thread may call.
 *
 * Nothing here waits for the dynamic linker's lock (loaded_symbols.h) as long as one library has
 * the function, or the first that has it was there at the program's start. Else the dynamic linker
 * is asked, and the library whose function it finds is not unloaded any more. */
void* original_for_caller(void** slot, const char* name, const char* library, const void* caller);

#endif
