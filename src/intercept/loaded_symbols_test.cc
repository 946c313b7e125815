// Looking functions up without the dynamic linker, against the dynamic linker.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstdlib>
#include <string>
#include <vector>

extern "C" {
#include "intercept/loaded_symbols.h"
}

namespace {

// All names in a library's table of symbols, which lies before that of their names.
std::vector<std::string> names_of(const char* library) {
  void* const handle = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  struct link_map* map = nullptr;
  if (handle == nullptr || ::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return {};
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) {
      symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
    }
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
  }
  std::vector<std::string> names;
  for (; reinterpret_cast<const char*>(symbols + 1) <= strings; ++symbols) {
    const bool is_local = ELF64_ST_BIND(symbols->st_info) == STB_LOCAL;
    const bool is_thread_local = ELF64_ST_TYPE(symbols->st_info) == STT_TLS;
    if (!is_local && !is_thread_local) names.emplace_back(strings + symbols->st_name);
  }
  ::dlclose(handle);
  return names;
}

class LoadedSymbols : public testing::Test {
 protected:
  void SetUp() override {
    static void* const zlib = ::dlopen("libz.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (zlib == nullptr) GTEST_SKIP() << "no zlib";
  }
};

// All of these are in the global scope, in the order of the list: the first definition is what the
// search order leads to.
TEST_F(LoadedSymbols, AgreeWithTheDynamicLinker) {
  size_t found = 0;
  for (const char* const library : {"libz.so.1", "libc.so.6", "libm.so.6", "libstdc++.so.6"}) {
    for (const std::string& name : names_of(library)) {
      void* const expected = ::dlsym(RTLD_NEXT, name.c_str());
      const loaded_symbol symbol = find_loaded_symbol(name.c_str());
      if (symbol.address == nullptr) continue;
      ++found;
      EXPECT_EQ(symbol.address, expected) << library << " " << name;
    }
  }
  EXPECT_GT(found, 1000u);
}

TEST_F(LoadedSymbols, TellWhatIsNotThere) {
  EXPECT_EQ(find_loaded_symbol("no_library_has_this").definitions, 0u);
  EXPECT_EQ(find_loaded_symbol("").definitions, 0u);
  EXPECT_EQ(find_loaded_symbol("zlibVersion").definitions, 1u);
}

TEST_F(LoadedSymbols, FindWhatIsThereFromTheStart) {
  for (const char* const name : {"__libc_start_main", "dl_iterate_phdr", "getauxval", "qsort"}) {
    void* const expected = ::dlsym(RTLD_NEXT, name);
    ASSERT_NE(expected, nullptr) << name;
    EXPECT_EQ(find_initial_symbol(name), expected) << name;
  }
  EXPECT_EQ(find_initial_symbol("no_library_has_this"), nullptr);
}

TEST_F(LoadedSymbols, TellLibrariesApart) {
  const auto address = [](const char* name) { return find_loaded_symbol(name).address; };
  EXPECT_TRUE(is_defined_beside(address("crc32"), "zlibVersion"));
  EXPECT_FALSE(is_defined_beside(address("gnu_get_libc_version"), "zlibVersion"));
  EXPECT_FALSE(is_defined_beside(nullptr, "zlibVersion"));
  EXPECT_TRUE(is_referred_to_beside(address("crc32"), "memcpy"));
  EXPECT_FALSE(is_referred_to_beside(address("crc32"), "qsort"));
}

TEST_F(LoadedSymbols, MarkObjects) {
  const object_mark zlib = mark_of_object(find_loaded_symbol("crc32").address);
  const object_mark again = mark_of_object(find_loaded_symbol("inflate").address);
  const object_mark own = mark_of_object(reinterpret_cast<const void*>(&names_of));
  if (zlib.begin == nullptr) GTEST_SKIP() << "a C library that cannot tell";
  EXPECT_EQ(zlib.begin, again.begin);
  EXPECT_EQ(zlib.end, again.end);
  EXPECT_EQ(zlib.unwinding, again.unwinding);
  EXPECT_NE(zlib.begin, own.begin);
  EXPECT_EQ(mark_of_object(nullptr).begin, nullptr);
}

}  // namespace
