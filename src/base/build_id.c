#include "base/build_id.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

static size_t round_up(size_t size, size_t alignment) {
  return (size + alignment - 1) & ~(alignment - 1);
}

bool hoist_build_id_in_notes(const void* notes, size_t size, size_t alignment,
                             char hex[HOIST_BUILD_ID_HEX]) {
  static const char kDigits[] = "0123456789abcdef";
  const uint8_t* at = notes;
  if (alignment != 8) alignment = 4; /* 0 and 1 mean 4 in the gABI */
  while (size >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    memcpy(&note, at, sizeof note);
    const size_t name_end = sizeof note + (size_t)note.n_namesz;
    const size_t content = round_up(name_end, alignment);
    const size_t end = content + note.n_descsz;
    if (end > size) return false;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
        memcmp(at + sizeof note, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
      if (note.n_descsz == 0 || note.n_descsz > (HOIST_BUILD_ID_HEX - 1) / 2) return false;
      for (size_t i = 0; i < note.n_descsz; ++i) {
        hex[2 * i] = kDigits[at[content + i] >> 4];
        hex[2 * i + 1] = kDigits[at[content + i] & 15];
      }
      hex[2 * note.n_descsz] = '\0';
      return true;
    }
    const size_t next = round_up(end, alignment);
    if (next >= size) return false;
    at += next;
    size -= next;
  }
  return false;
}
