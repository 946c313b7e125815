#include "intercept/program_file.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/build_id.h"
#include "takeover/programs.h"

static bool is_executable(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

static bool find_in_path(const char* name, char path[PATH_MAX]) {
  const char* at = getenv("PATH");
  while (at != NULL) {
    const size_t length = strcspn(at, ":");
    const int size = snprintf(path, PATH_MAX, "%.*s/%s", length > 0 ? (int)length : 1,
                              length > 0 ? at : ".", name);
    if (size > 0 && size < PATH_MAX && is_executable(path)) return true;
    at = at[length] == ':' ? at + length + 1 : NULL;
  }
  return false;
}

/* The build-id where the ELF header, the program headers and the note lie in the file's first
 * bytes, as linkers put them. */
static bool read_build_id(int fd, char build_id[HOIST_BUILD_ID_HEX]) {
  _Alignas(Elf64_Ehdr) char head[4096];
  const ssize_t size = read(fd, head, sizeof head);
  const Elf64_Ehdr* elf = (const Elf64_Ehdr*)head;
  if (size < (ssize_t)sizeof *elf || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_phentsize != sizeof(Elf64_Phdr)) return false;
  const uint64_t end = (uint64_t)size;
  if (elf->e_phoff > end || elf->e_phnum > (end - elf->e_phoff) / sizeof(Elf64_Phdr)) return false;
  for (int i = 0; i < elf->e_phnum; ++i) {
    Elf64_Phdr header;
    memcpy(&header, head + elf->e_phoff + (size_t)i * sizeof header, sizeof header);
    if (header.p_type != PT_NOTE || header.p_offset > end) continue;
    if (header.p_filesz > end - header.p_offset) continue;
    if (hoist_build_id_in_notes(head + header.p_offset, header.p_filesz, header.p_align,
                                build_id)) {
      return true;
    }
  }
  return false;
}

static bool raises_privileges(const char* path, const struct stat* info) {
  return (info->st_mode & (S_ISUID | S_ISGID)) != 0 ||
         getxattr(path, "security.capability", NULL, 0) >= 0;
}

static const struct hoist_build* find_build(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NULL;
  char build_id[HOIST_BUILD_ID_HEX] = "";
  struct stat info;
  const bool found = fstat(fd, &info) == 0 && read_build_id(fd, build_id);
  close(fd);
  const struct hoist_build* build = found ? hoist_find_build(build_id) : NULL;
  return build != NULL && !raises_privileges(path, &info) ? build : NULL;
}

bool recognise_file(const char* name, char path[PATH_MAX], struct identity* identity) {
  const char* slash = strrchr(name, '/');
  const char* base = slash != NULL ? slash + 1 : name;
  if (hoist_find_program(base) == NULL) return false;
  char found[PATH_MAX];
  if (slash == NULL && !find_in_path(name, found)) return false;
  const char* file = slash == NULL ? found : name;
  if (slash != NULL && !is_executable(name)) return false;
  const struct hoist_build* build = find_build(file);
  if (build == NULL || strcmp(build->program, base) != 0) return false;
  identify(identity, build->program, build->version);
  return realpath(file, path) != NULL;
}
