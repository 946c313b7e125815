#include "intercept/loaded_symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <sys/auxv.h>

typedef ElfW(Sym) symbol_entry;
typedef ElfW(Dyn) dynamic_entry;
typedef ElfW(Rela) relocation_entry;

/* What of an object's dynamic section a search needs (System V gABI, "Dynamic Section"). */
struct tables {
  const symbol_entry* symbols;
  const char* names;
  const ElfW(Half) * versions; /* null: none */
  const uint32_t* gnu_hash;
  const uint32_t* hash;
  const relocation_entry* relocations[2]; /* of data, and of calls */
  size_t relocation_counts[2];
};

static bool holds(const struct dl_phdr_info* object, const void* address) {
  for (size_t i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_LOAD && (uintptr_t)address - begin < segment->p_memsz) return true;
  }
  return false;
}

/* The dynamic linker has relocated the pointers of libraries, but not those of the vDSO. */
static const void* pointer_of(uintptr_t base, const dynamic_entry* entry) {
  const uintptr_t value = entry->d_un.d_ptr;
  return (const void*)(value < base ? value + base : value);
}

static struct tables tables_in(uintptr_t base, const dynamic_entry* entry) {
  struct tables tables = {0};
  for (; entry != NULL && entry->d_tag != DT_NULL; ++entry) {
    const void* pointer = pointer_of(base, entry);
    if (entry->d_tag == DT_SYMTAB) tables.symbols = pointer;
    if (entry->d_tag == DT_STRTAB) tables.names = pointer;
    if (entry->d_tag == DT_VERSYM) tables.versions = pointer;
    if (entry->d_tag == DT_GNU_HASH) tables.gnu_hash = pointer;
    if (entry->d_tag == DT_HASH) tables.hash = pointer;
    if (entry->d_tag == DT_RELA) tables.relocations[0] = pointer;
    if (entry->d_tag == DT_JMPREL) tables.relocations[1] = pointer;
    const size_t count = entry->d_un.d_val / sizeof(relocation_entry);
    if (entry->d_tag == DT_RELASZ) tables.relocation_counts[0] = count;
    if (entry->d_tag == DT_PLTRELSZ) tables.relocation_counts[1] = count;
  }
  return tables;
}

static struct tables tables_of(const struct dl_phdr_info* object) {
  const dynamic_entry* dynamic = NULL;
  for (size_t i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    dynamic = (const dynamic_entry*)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
  }
  return tables_in(object->dlpi_addr, dynamic);
}

/* strcmp() may be a sanitizer's, which must not be called before that has started. */
static bool is_same(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

/* Whether it is what dlsym() would give: a definition, exported, of the default version. */
static bool is_definition(const struct tables* tables, size_t index, const char* name) {
  enum { kHiddenVersion = 0x8000, kLocalVersion = 0 };
  const symbol_entry* symbol = &tables->symbols[index];
  const unsigned char visibility = ELF64_ST_VISIBILITY(symbol->st_other);
  const unsigned version = tables->versions != NULL ? tables->versions[index] : 1;
  return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
         ELF64_ST_BIND(symbol->st_info) != STB_LOCAL && ELF64_ST_TYPE(symbol->st_info) != STT_TLS &&
         visibility != STV_HIDDEN && visibility != STV_INTERNAL &&
         (version & kHiddenVersion) == 0 && version != kLocalVersion &&
         is_same(tables->names + symbol->st_name, name);
}

static uint32_t gnu_hash_of(const char* name) {
  uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + (unsigned char)*name;
  return hash;
}

/* A Bloom filter, buckets by the hash, and for each symbol of a bucket its hash, whose lowest bit
 * marks the bucket's last. */
static const symbol_entry* search_gnu_hash(const struct tables* tables, const char* name) {
  const uint32_t buckets = tables->gnu_hash[0];
  const uint32_t first = tables->gnu_hash[1];
  const uint32_t words = tables->gnu_hash[2];
  const uint32_t shift = tables->gnu_hash[3];
  const ElfW(Addr)* filter = (const ElfW(Addr)*)(tables->gnu_hash + 4);
  const uint32_t* bucket = (const uint32_t*)(filter + words);
  const uint32_t* hashes = bucket + buckets;
  const uint32_t hash = gnu_hash_of(name);
  const uint32_t bits = 8 * sizeof *filter;
  const ElfW(Addr) word = filter[hash / bits % words];
  if ((word >> hash % bits & word >> (hash >> shift) % bits & 1) == 0) return NULL;
  for (uint32_t i = bucket[hash % buckets]; i >= first; ++i) {
    if ((hashes[i - first] | 1) == (hash | 1) && is_definition(tables, i, name)) {
      return &tables->symbols[i];
    }
    if ((hashes[i - first] & 1) != 0) break;
  }
  return NULL;
}

static const symbol_entry* search(const struct tables* tables, const char* name) {
  if (tables->symbols == NULL || tables->names == NULL) return NULL;
  if (tables->gnu_hash != NULL) return search_gnu_hash(tables, name);
  /* Rare enough to be looked through: the old table tells how many symbols there are. */
  for (size_t i = 1; tables->hash != NULL && i < tables->hash[1]; ++i) {
    if (is_definition(tables, i, name)) return &tables->symbols[i];
  }
  return NULL;
}

struct search_state {
  const char* name;
  struct loaded_symbol found;
  bool behind_us;
};

static int search_behind_us(struct dl_phdr_info* object, size_t size, void* context) {
  struct search_state* state = context;
  if (!state->behind_us) {
    static const char kOwn;
    state->behind_us = holds(object, &kOwn);
    return 0;
  }
  if (object->dlpi_addr == getauxval(AT_SYSINFO_EHDR))
    return 0; /* the vDSO is searched by nobody */
  const struct tables tables = tables_of(object);
  const symbol_entry* symbol = search(&tables, state->name);
  if (symbol == NULL) return 0;
  if (++state->found.definitions == 1 && ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC) {
    state->found.address = (void*)(object->dlpi_addr + symbol->st_value);
  }
  return 0;
}

struct loaded_symbol find_loaded_symbol(const char* name) {
  struct search_state state = {.name = name};
  const int saved = errno; /* getauxval() says in it that there is no vDSO */
  dl_iterate_phdr(search_behind_us, &state);
  errno = saved;
  return state.found;
}

extern struct r_debug _r_debug __attribute__((weak)); /* of the dynamic linker, for debuggers */

void* find_initial_symbol(const char* name) {
  if (&_r_debug == NULL) return NULL;
  bool behind_us = false;
  for (const struct link_map* map = _r_debug.r_map; map != NULL; map = map->l_next) {
    if (behind_us) {
      const struct tables tables = tables_in(map->l_addr, map->l_ld);
      const symbol_entry* symbol = search(&tables, name);
      if (symbol != NULL && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC) {
        return (void*)(map->l_addr + symbol->st_value);
      }
    }
    behind_us |= map->l_ld == _DYNAMIC;
  }
  return NULL;
}

static bool refers_to(const struct tables* tables, const char* name) {
  for (int kind = 0; kind < 2; ++kind) {
    for (size_t i = 0; tables->relocations[kind] != NULL && i < tables->relocation_counts[kind];
         ++i) {
      const size_t symbol = ELF64_R_SYM(tables->relocations[kind][i].r_info);
      if (symbol != 0 && is_same(tables->names + tables->symbols[symbol].st_name, name)) {
        return true;
      }
    }
  }
  return false;
}

struct neighbour {
  const void* address;
  const char* name;
  bool (*test)(const struct tables*, const char*);
  bool answer;
};

static int test_object(struct dl_phdr_info* object, size_t size, void* context) {
  struct neighbour* neighbour = context;
  if (!holds(object, neighbour->address)) return 0;
  const struct tables tables = tables_of(object);
  neighbour->answer =
      tables.symbols != NULL && tables.names != NULL && neighbour->test(&tables, neighbour->name);
  return 1;
}

static bool defines(const struct tables* tables, const char* name) {
  return search(tables, name) != NULL;
}

bool is_defined_beside(const void* address, const char* name) {
  struct neighbour neighbour = {.address = address, .name = name, .test = defines};
  dl_iterate_phdr(test_object, &neighbour);
  return neighbour.answer;
}

bool is_referred_to_beside(const void* address, const char* name) {
  struct neighbour neighbour = {.address = address, .name = name, .test = refers_to};
  dl_iterate_phdr(test_object, &neighbour);
  return neighbour.answer;
}

#if defined(DLFO_STRUCT_HAS_EH_DBASE)
/* glibc's lookup by address (2.35), which takes no lock. It is looked up itself, so that this
 * library can be loaded where there is none. */
typedef __typeof__(_dl_find_object) find_object_function;

static find_object_function* find_object(void) {
  static void* known;
  static bool missing;
  void* function = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (function == NULL && !__atomic_load_n(&missing, __ATOMIC_RELAXED)) {
    function = find_loaded_symbol("_dl_find_object").address;
    __atomic_store_n(&known, function, __ATOMIC_RELAXED);
    __atomic_store_n(&missing, function == NULL, __ATOMIC_RELAXED);
  }
  return (find_object_function*)function;
}

struct object_mark mark_of_object(const void* address) {
  struct object_mark mark = {0};
  struct dl_find_object object;
  find_object_function* find = find_object();
  if (find != NULL && find((void*)address, &object) == 0) {
    mark.begin = object.dlfo_map_start;
    mark.end = object.dlfo_map_end;
    mark.unwinding = object.dlfo_eh_frame;
  }
  return mark;
}
#else
struct object_mark mark_of_object(const void* address) {
  (void)address;
  return (struct object_mark){0};
}
#endif
