#include "device/remote/shared_memory.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace hoist::device::remote {
namespace {

constexpr int kWanted = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr int kUnwanted = F_SEAL_WRITE | F_SEAL_FUTURE_WRITE;

Error system_error(std::string_view what) {
  const int code = errno;
  return fail(ErrorCode::io, fmt::format("{} (shared memory): {}", what, std::strerror(code)),
              code);
}

Error refused(std::string_view why) {
  return fail(ErrorCode::invalid_argument, fmt::format("{} (shared memory)", why));
}

Status check_shape(uint32_t queues, uint64_t pool_size) {
  constexpr uint64_t kMost = uint64_t{1} << 46;
  if (queues < 1 || queues > HOIST_RING_MAX_QUEUES) return refused("no such number of queues");
  if (pool_size % HOIST_RING_PAGE != 0 || pool_size > kMost) return refused("no such pool size");
  return {};
}

}  // namespace

Result<SharedMemory> SharedMemory::create(uint32_t queues, uint64_t pool_size) {
  if (Status shape = check_shape(queues, pool_size); !shape) return shape.error();
  SharedMemory memory;
  memory.queues_ = queues;
  memory.size_ = hoist_ring_pool_offset(queues) + pool_size;
  memory.fd_ = UniqueFd(::memfd_create("hoist-pool", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.fd_.valid()) return system_error("make");
  errno = EFBIG;
  if (!may_grow(memory.fd(), memory.size_)) return system_error("size");  // by a signal otherwise
  if (::ftruncate(memory.fd(), static_cast<off_t>(memory.size_)) != 0) return system_error("size");
  if (::fcntl(memory.fd(), F_ADD_SEALS, kWanted) != 0) return system_error("seal");
  if (Status mapped = memory.map(memory.fd()); !mapped) return mapped.error();
  // A child's writes would be taken for its parent's, and its exit would not end the session.
  if (::madvise(memory.data_, memory.size_, MADV_DONTFORK) != 0) return system_error("keep");
  new (memory.data_) hoist_ring_header{HOIST_RING_MAGIC, HOIST_RING_VERSION, queues,
                                       hoist_ring_pool_offset(queues), pool_size};
  return memory;
}

Result<SharedMemory> SharedMemory::adopt(int descriptor, uint32_t queues, uint64_t pool_size) {
  if (Status shape = check_shape(queues, pool_size); !shape) return shape.error();
  SharedMemory memory;
  memory.queues_ = queues;
  memory.size_ = hoist_ring_pool_offset(queues) + pool_size;
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  if (seals < 0) return refused("the descriptor is no memory that can be sealed");
  if ((seals & kWanted) != kWanted) return refused("it is not sealed");
  if ((seals & kUnwanted) != 0) return refused("it is sealed against writing");
  // A hole in huge pages cannot be filled again for certain (SIGBUS).
  struct statfs file_system;
  if (::fstatfs(descriptor, &file_system) != 0) return system_error("ask");
  if (file_system.f_type != TMPFS_MAGIC) return refused("it is not made of ordinary pages");
  struct stat file;
  if (::fstat(descriptor, &file) != 0) return system_error("ask");
  if (static_cast<uint64_t>(file.st_size) != memory.size_) {
    return refused("its size is not what was said");
  }
  if (Status mapped = memory.map(descriptor); !mapped) return mapped.error();
  return memory;
}

Status SharedMemory::map(int descriptor) {
  void* const data = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) return system_error("map");
  ::madvise(data, size_, MADV_HUGEPAGE);  // where the system has them for shared memory
  data_ = static_cast<std::byte*>(data);
  owner_ = ::getpid();
  return {};
}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(queues_, other.queues_);
  std::swap(owner_, other.owner_);
  return *this;
}

SharedMemory::~SharedMemory() {
  // In a forked child something else may lie at this address.
  if (data_ != nullptr && owner_ == ::getpid()) ::munmap(data_, size_);
}

hoist_ring_queue* SharedMemory::queue(uint32_t index) const {
  return reinterpret_cast<hoist_ring_queue*>(data_ + hoist_ring_queue_offset(index));
}

std::span<std::byte> SharedMemory::pool() const {
  const uint64_t offset = hoist_ring_pool_offset(queues_);
  return {data_ + offset, size_ - offset};
}

}  // namespace hoist::device::remote
