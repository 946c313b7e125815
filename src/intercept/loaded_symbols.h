/* Functions of the libraries that are loaded, looked up without the dynamic linker's lock.
 *
 * dlsym(), dladdr() and dlopen() wait for a thread that is in dlopen(), constructors included, and
 * they take away the message that dlerror() would have told the program. dl_iterate_phdr(), which
 * the functions here use, does neither: its lock is another one, held only while the list of what
 * is loaded changes. errno is kept. Any thread may call; not in a signal handler. */
#ifndef HOIST_INTERCEPT_LOADED_SYMBOLS_H
#define HOIST_INTERCEPT_LOADED_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

struct loaded_symbol {
  size_t definitions; /* in libraries behind us in the dynamic linker's list; none of ours */
  void* address;      /* of the first; null where only the dynamic linker can tell (IFUNC) */
};

/* Where there is one definition, it is the one that any caller gets, whatever its search order. */
struct loaded_symbol find_loaded_symbol(const char* name);

/* A function of a library that is loaded from the start, the first behind us that has it, as
 * dlsym() with RTLD_NEXT would find it; null where there is none. Takes no lock at all: such
 * libraries stay where they are in the list, so the name has to be one that the C library has. */
void* find_initial_symbol(const char* name);

/* Whether the object that holds `address` defines `name`, too. */
bool is_defined_beside(const void* address, const char* name);

/* Whether that object has `name` filled in by the dynamic linker, with its own definition or
 * another's. */
bool is_referred_to_beside(const void* address, const char* name);

/* What tells one loaded object from another that was loaded to the same place later. */
struct object_mark {
  const void* begin; /* null: no mark */
  const void* end;
  const void* unwinding;
};

/* The mark of the object that holds `address`. It is empty where no object does, or where the C
 * library cannot tell without a lock (before glibc 2.35). Takes some 20 ns. */
struct object_mark mark_of_object(const void* address);

#endif
