/* Which program is this? The build-id of the main program decides; the name under which it was
 * started only says whether asking the user's table is worth a system call. */
#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/build_id.h"
#include "intercept/preload.h"
#include "intercept/program_headers.h"
#include "takeover/programs.h"
#include "takeover/user_table.h"

static void read_build_id(char hex[HOIST_BUILD_ID_HEX]) {
  const struct program_headers program = program_headers();
  for (size_t i = 0; i < program.count; ++i) {
    const ElfW(Phdr)* header = &program.first[i];
    if (header->p_type != PT_NOTE) continue;
    const void* notes = (const void*)(program.base + header->p_vaddr);
    if (hoist_build_id_in_notes(notes, header->p_memsz, header->p_align, hex)) return;
  }
}

/* Base name of the file that was started. */
static const char* started_name(void) {
  const char* path = (const char*)getauxval(AT_EXECFN);
  if (path == NULL) return "";
  const char* name = path;
  for (; *path != '\0'; ++path) {
    if (*path == '/') name = path + 1;
  }
  return name;
}

const char* recognise_program(struct identity* identity) {
  char build_id[HOIST_BUILD_ID_HEX] = "";
  read_build_id(build_id);
  const struct hoist_build* build = hoist_find_build(build_id);
  struct hoist_user_build learnt;
  if (build != NULL) {
    identify(identity, build->program, build->version);
  } else if (hoist_find_program(started_name()) == NULL) {
    return "no engine replaces it";
  } else if (hoist_find_user_build(build_id, &learnt)) {
    /* One binary may be many programs, told apart by their names; only one of them was learnt. */
    if (strcmp(started_name(), learnt.program) != 0) return "learnt under another name";
    identify(identity, learnt.program, learnt.version);
  } else {
    return "build-id unknown";
  }
  return NULL;
}
