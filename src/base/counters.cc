#include "base/counters.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "base/options.h"
#include "base/spin_lock.h"

namespace hoist {
namespace {

template <size_t N>
void copy_text(char (&target)[N], std::string_view text) {
  const size_t length = std::min(text.size(), N - 1);
  std::memcpy(target, text.data(), length);
  target[length] = '\0';
}

template <size_t N>
std::string_view text_of(const char (&source)[N]) {
  return {source, ::strnlen(source, N)};
}

void add(uint64_t& counter, uint64_t amount) {
  __atomic_fetch_add(&counter, amount, __ATOMIC_RELAXED);
}

uint64_t get(const uint64_t& counter) { return __atomic_load_n(&counter, __ATOMIC_RELAXED); }

// The slot of `slots` whose text member is `name`, or null. Needs no lock: a name is complete
// before it is counted, and stays.
template <typename Slot, size_t N, typename Text>
Slot* find(Slot (&slots)[N], const uint32_t& count, std::string_view name, Text text) {
  const uint32_t used = std::min<uint32_t>(__atomic_load_n(&count, __ATOMIC_ACQUIRE), N);
  for (uint32_t i = 0; i < used; ++i) {
    if (text_of(text(slots[i])) == name.substr(0, sizeof text(slots[i]) - 1)) return &slots[i];
  }
  return nullptr;
}

// The same, added if there is room; null if there is none.
template <typename Slot, size_t N, typename Text>
Slot* find_or_add(Slot (&slots)[N], uint32_t& count, uint32_t& lock, std::string_view name,
                  Text text) {
  if (Slot* known = find(slots, count, name, text)) return known;
  const SpinLock guard(lock);
  if (!guard.held()) return nullptr;
  if (Slot* known = find(slots, count, name, text)) return known;
  const uint32_t used = __atomic_load_n(&count, __ATOMIC_ACQUIRE);
  if (used >= N) return nullptr;
  copy_text(text(slots[used]), name);
  __atomic_store_n(&count, used + 1, __ATOMIC_RELEASE);
  return &slots[used];
}

hoist_operation_slot* operation_slot(hoist_counters* layout, std::string_view name) {
  return find_or_add(
      layout->operations, layout->operation_count, layout->lock, name,
      [](hoist_operation_slot& slot) -> char(&)[HOIST_NAME_BYTES] { return slot.name; });
}

hoist_implementation_slot* implementation_slot(hoist_operation_slot& slot, std::string_view name) {
  return find_or_add(
      slot.implementations, slot.implementation_count, slot.lock, name,
      [](hoist_implementation_slot& entry) -> char(&)[HOIST_NAME_BYTES] { return entry.name; });
}

constexpr int kFirstHeld = 10;

// Marks the segment as in use for as long as the descriptor is open. May wait for one who sweeps.
// The descriptor is kept away from the standard streams': a program started with standard output
// closed must not find it open.
UniqueFd hold(const UniqueFd& fd) {
  UniqueFd held(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kFirstHeld));
  if (held.valid()) {
    while (::flock(held.get(), LOCK_SH) != 0 && errno == EINTR) {
    }
  }
  return held;
}

// Sets room aside for the segment in the new file, for as many programs as leave most of what is
// free to the program; how many that are.
Result<uint32_t> set_aside_slots(const UniqueFd& fd, const std::string& path) {
  constexpr uint64_t kShare = 16;
  constexpr uint32_t kFewest = 8;
  struct statvfs space;
  if (::fstatvfs(fd.get(), &space) != 0) return fail(ErrorCode::io, "cannot ask for room", errno);
  const uint64_t free = space.f_blocks > 0 ? space.f_bavail * uint64_t{space.f_frsize} : UINT64_MAX;
  std::string why = std::strerror(ENOSPC);
  for (uint32_t slots = HOIST_MAX_PROGRAMS; slots >= kFewest; slots /= 8) {
    const uint64_t size = hoist_counters_size(slots);
    if (size > free / kShare) continue;
    const Status got = set_aside(fd.get(), size);
    if (got) return slots;
    why = got.error().message;
  }
  return fail(ErrorCode::exhausted, fmt::format("no room for counters ({}): {}", path, why));
}

// The size of a segment whose pages are all there; 0 where the file is none.
uint64_t size_of_segment(const UniqueFd& fd) {
  struct stat info;
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != ::geteuid()) {
    return 0;
  }
  constexpr uint64_t kBlock = 512;  // of st_blocks
  const auto size = static_cast<uint64_t>(info.st_size);
  if (hoist_counters_slots(size) == 0) return 0;
  if (static_cast<uint64_t>(info.st_blocks) * kBlock < size) return 0;
  uint64_t head[2];
  const Result<size_t> got = pread_full(fd.get(), head, sizeof head, 0);
  const bool is_sound =
      got && *got == sizeof head && head[0] == HOIST_COUNTERS_MAGIC && head[1] == size;
  return is_sound ? size : 0;
}

// Length of the UTF-8 sequence that `text` begins with (RFC 3629, table 3-7 of Unicode); 0 where
// the bytes are not one.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t at) -> unsigned {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
  };
  const auto continues = [&](size_t at) { return (byte(at) & 0xc0u) == 0x80u; };
  const unsigned first = byte(0);
  const unsigned second = byte(1);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4 || !continues(1)) return 0;
  if (first < 0xe0) return 2;
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
  if (!continues(2)) return 0;
  if (first < 0xf0) return 3;
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
  return continues(3) ? 4 : 0;
}

// Arguments are bytes: what is not UTF-8 is shown as Latin-1.
std::string quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text[0]);
    const size_t length = utf8_length(text);
    if (length == 0 || byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      if (byte == '"' || byte == '\\') out += '\\';
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out + "\"";
}

template <typename Slots, typename Visit>
void for_each(const Slots& slots, uint32_t count, Visit&& visit) {
  const size_t limit = std::min<size_t>(count, std::size(slots));
  for (size_t i = 0; i < limit; ++i) visit(slots[i]);
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (!out.empty()) out += separator;
    out += part;
  }
  return out;
}

std::string program_json(const hoist_program_slot& slot) {
  std::vector<std::string> words;
  for (const std::string_view word : arguments_of(slot)) words.push_back(quote(word));
  return fmt::format("{{\"pid\":{},\"argv\":[{}],\"taken_over\":{},\"reason\":{}}}", slot.pid,
                     join(words, ","), slot.taken_over != 0, quote(text_of(slot.reason)));
}

std::string operation_json(const hoist_operation_slot& slot) {
  std::vector<std::string> implementations;
  for_each(slot.implementations, slot.implementation_count, [&](const auto& implementation) {
    implementations.push_back(fmt::format(
        "{}:{{\"calls\":{},\"bytes\":{},\"seconds\":{:.6f}}}", quote(text_of(implementation.name)),
        get(implementation.calls), get(implementation.bytes),
        static_cast<double>(get(implementation.nanoseconds)) * 1e-9));
  });
  std::vector<std::string> passed;
  for_each(slot.passed, slot.passed_count, [&](const auto& reason) {
    passed.push_back(fmt::format("{}:{}", quote(text_of(reason.reason)), get(reason.count)));
  });
  return fmt::format(
      "{}:{{\"calls\":{},\"bytes\":{},\"seconds\":{:.6f},\"implementations\":{{{}}},"
      "\"passed\":{{{}}}}}",
      quote(text_of(slot.name)), get(slot.calls), get(slot.bytes),
      static_cast<double>(get(slot.nanoseconds)) * 1e-9, join(implementations, ","),
      join(passed, ","));
}

}  // namespace

std::vector<std::string_view> arguments_of(const hoist_program_slot& slot) {
  std::vector<std::string_view> out;
  size_t at = 0;
  while (out.size() < slot.argument_count && at < HOIST_ARGV_BYTES) {
    const size_t length = ::strnlen(slot.argv + at, HOIST_ARGV_BYTES - at);
    out.emplace_back(slot.argv + at, length);
    at += length + 1;
  }
  return out;
}

bool is_own_folder(const std::string& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() &&
         (info.st_mode & 077) == 0;
}

Result<std::string> make_own_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail(ErrorCode::io, fmt::format("cannot create {}: {}", path, std::strerror(errno)),
                errno);
  }
  struct stat info;
  if (is_own_folder(path)) return path;
  const bool is_gone = ::lstat(path.c_str(), &info) != 0 && errno == ENOENT;
  return fail(ErrorCode::unavailable,
              fmt::format("{} is not your directory with mode 0700: remove it", path),
              is_gone ? ENOENT : 0);
}

Result<std::string> Counters::directory() {
  Result<std::string> shared = make_own_folder(fmt::format("/dev/shm/hoist-{}", ::geteuid()));
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (shared || runtime == nullptr || runtime[0] != '/') return shared;
  Result<std::string> instead = make_own_folder(fmt::format("{}/hoist", runtime));
  return instead ? instead : shared;
}

Result<std::unique_ptr<Counters>> Counters::create_in(const std::string& folder, int root_pid) {
  for (uint32_t tries = 0; tries < 16; ++tries) {
    uint32_t suffix = tries;  // where there is no randomness yet
    (void)::getrandom(&suffix, sizeof suffix, GRND_NONBLOCK);
    const std::string path = fmt::format("{}/{}-{:08x}", folder, root_pid, suffix);
    Result<std::unique_ptr<Counters>> counters = create(path, root_pid);
    if (counters || counters.error().system_errno != EEXIST) return counters;
  }
  return fail(ErrorCode::exhausted, fmt::format("no free name for counters in {}", folder));
}

Status Counters::map(int fd, uint64_t size) {
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    return fail(ErrorCode::io, fmt::format("cannot map counters {}", path_), errno);
  }
  layout_ = static_cast<hoist_counters*>(memory);
  program_slots_ = hoist_counters_slots(size);
  return {};
}

// Starts counters in a file whose pages are there.
Status Counters::start(const UniqueFd& fd, uint32_t program_slots, int root_pid) {
  const uint64_t size = hoist_counters_size(program_slots);
  if (Status mapped = map(fd.get(), size); !mapped) return mapped;
  layout_->size = size;
  layout_->root_pid = root_pid;
  __atomic_store_n(&layout_->magic, HOIST_COUNTERS_MAGIC, __ATOMIC_RELEASE);
  return {};
}

Result<std::unique_ptr<Counters>> Counters::create(const std::string& path, int root_pid) {
  Result<UniqueFd> fd = open_file(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (!fd) return fd.error();
  UniqueFd held = hold(*fd);
  struct stat info;
  if (::fstat(fd->get(), &info) == 0 && info.st_nlink == 0) {
    return fail(ErrorCode::io, fmt::format("{} was swept before it was held", path), EEXIST);
  }
  std::unique_ptr<Counters> counters(new Counters);
  counters->path_ = path;
  const Result<uint32_t> slots = set_aside_slots(*fd, path);
  const Status started = slots ? counters->start(*fd, *slots, root_pid) : slots.error();
  if (!started) {
    ::unlink(path.c_str());
    return started.error();
  }
  counters->held_ = std::move(held);
  return counters;
}

Result<std::unique_ptr<Counters>> Counters::create_private(int root_pid) {
  constexpr uint32_t kSlots = 8;  // an engine and what it starts in its own place
  const UniqueFd fd(::memfd_create(HOIST_COUNTERS_MEMORY, MFD_CLOEXEC));
  if (!fd.valid()) return fail(ErrorCode::unavailable, "no memory file for counters", errno);
  if (Status room = set_aside(fd.get(), hoist_counters_size(kSlots)); !room) {
    return room.error();
  }
  std::unique_ptr<Counters> counters(new Counters);
  if (Status started = counters->start(fd, kSlots, root_pid); !started) {
    return started.error();
  }
  counters->held_ = hold(fd);
  return counters;
}

Result<std::unique_ptr<Counters>> Counters::open(const std::string& path, bool in_use) {
  Result<UniqueFd> fd = open_file(path, O_RDWR | O_NOFOLLOW);
  if (!fd) return fd.error();
  return open(*fd, path, in_use);
}

Result<std::unique_ptr<Counters>> Counters::open(const UniqueFd& fd, const std::string& path,
                                                 bool in_use) {
  const uint64_t size = size_of_segment(fd);
  if (size == 0) {
    return fail(ErrorCode::corrupt,
                fmt::format("{} is not a counter segment of this version", path));
  }
  std::unique_ptr<Counters> counters(new Counters);
  counters->path_ = path;
  if (Status mapped = counters->map(fd.get(), size); !mapped) {
    return mapped.error();
  }
  if (in_use) counters->held_ = hold(fd);
  return counters;
}

Counters& Counters::process() {
  static Counters* const counters = [] {
    const char* path = environment_value(HOIST_COUNTERS_ENV);
    const bool is_shared = path != nullptr && path[0] != '\0';
    Result<std::unique_ptr<Counters>> found =
        is_shared ? open(path, true) : create_private(::getpid());
    return found ? found->release() : new Counters;
  }();
  return *counters;
}

Counters::~Counters() {
  if (layout_ != nullptr) ::munmap(layout_, hoist_counters_size(program_slots_));
}

void Counters::add_program(int pid, const std::vector<std::string>& argv, bool taken_over,
                           std::string_view reason) {
  if (layout_ == nullptr) return;
  const uint32_t index = __atomic_fetch_add(&layout_->program_count, 1u, __ATOMIC_RELAXED);
  if (index >= program_slots_) return;
  hoist_program_slot& slot = layout_->programs[index];
  slot.pid = pid;
  slot.taken_over = taken_over ? 1 : 0;
  copy_text(slot.reason, reason);
  size_t at = 0;
  for (const std::string& word : argv) {
    if (at + 1 >= HOIST_ARGV_BYTES) break;
    const size_t length = std::min(word.size(), HOIST_ARGV_BYTES - at - 1);
    std::memcpy(slot.argv + at, word.data(), length);
    slot.argv[at + length] = '\0';
    at += length + 1;
    ++slot.argument_count;
  }
  __atomic_store_n(&slot.ready, 1u, __ATOMIC_RELEASE);
}

void Counters::add_progress(std::string_view operation, std::string_view implementation,
                            uint64_t bytes) {
  if (layout_ == nullptr) return;
  hoist_operation_slot* slot = operation_slot(layout_, operation);
  if (slot == nullptr) return;
  add(slot->bytes, bytes);
  if (hoist_implementation_slot* part = implementation_slot(*slot, implementation)) {
    add(part->bytes, bytes);
  }
}

void Counters::add_call(std::string_view operation, std::string_view implementation, uint64_t bytes,
                        uint64_t nanoseconds) {
  if (layout_ == nullptr) return;
  hoist_operation_slot* slot = operation_slot(layout_, operation);
  if (slot == nullptr) return;
  add(slot->calls, 1);
  add(slot->bytes, bytes);
  add(slot->nanoseconds, nanoseconds);
  hoist_implementation_slot* part = implementation_slot(*slot, implementation);
  if (part == nullptr) return;
  add(part->calls, 1);
  add(part->bytes, bytes);
  add(part->nanoseconds, nanoseconds);
}

void Counters::add_passed(std::string_view operation, std::string_view reason) {
  if (layout_ == nullptr) return;
  hoist_operation_slot* slot = operation_slot(layout_, operation);
  if (slot == nullptr) return;
  hoist_passed_slot* part = find_or_add(
      slot->passed, slot->passed_count, slot->lock, reason,
      [](hoist_passed_slot& entry) -> char(&)[HOIST_REASON_BYTES] { return entry.reason; });
  if (part != nullptr) add(part->count, 1);
}

uint64_t Counters::not_recorded() const {
  if (layout_ == nullptr) return 0;
  const uint32_t count = __atomic_load_n(&layout_->program_count, __ATOMIC_RELAXED);
  return count > program_slots_ ? count - program_slots_ : 0;
}

std::string Counters::to_json() const {
  std::vector<std::string> programs;
  std::vector<std::string> operations;
  if (layout_ != nullptr) {
    const uint32_t seen = std::min(layout_->program_count, program_slots_);
    for_each(layout_->programs, seen, [&](const hoist_program_slot& slot) {
      if (__atomic_load_n(&slot.ready, __ATOMIC_ACQUIRE) == 1) {
        programs.push_back(program_json(slot));
      }
    });
    for_each(layout_->operations, layout_->operation_count,
             [&](const hoist_operation_slot& slot) { operations.push_back(operation_json(slot)); });
  }
  const std::string rest =
      not_recorded() > 0 ? fmt::format(",\"not_recorded\":{}", not_recorded()) : "";
  return fmt::format("{{\"programs\":[{}],\"operations\":{{{}}}{}}}", join(programs, ","),
                     join(operations, ","), rest);
}

}  // namespace hoist
