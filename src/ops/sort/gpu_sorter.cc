#include "ops/sort/gpu_sorter.h"

#include <new>
#include <vector>

#include "base/log.h"
#include "base/quiet_thread.h"
#include "base/stopwatch.h"
#include "device/radix_sort/there_and_back.h"
#include "device/remote/lent_device.h"

namespace hoist::sort {
namespace {

using device::radix_sort::HostCall;
using device::radix_sort::Kind;

static_assert(sizeof(Entry) == sizeof(device::radix_sort::Entry));

// In place: memory that nobody has touched yet would take longer to get than the way there and
// back.
HostCall call_for(std::span<Entry> entries) {
  const std::span<std::byte> bytes = std::as_writable_bytes(entries);
  return {.kind = Kind::entry, .from = bytes, .to = bytes};
}

}  // namespace

OpenDevice lent_gpu(GpuUse use) {
  using device::remote::WithoutHoistd;
  const auto otherwise = use == GpuUse::any ? WithoutHoistd::open : WithoutHoistd::none;
  return [=] { return device::remote::lent_device({.otherwise = otherwise}); };
}

struct GpuSorter::Gpu {
  Gpu(std::shared_ptr<device::Device> lent, int threads)
      : device(std::move(lent)),
        pool(*device),
        transfer(pool, device::radix_sort::tuning_for(threads)) {}

  const std::shared_ptr<device::Device> device;
  device::PinnedPool pool;
  device::Transfer transfer;
};

GpuSorter::GpuSorter(size_t least, OpenDevice open_device, int threads)
    : least_(least), open_device_(std::move(open_device)), threads_(threads) {
  Result<std::thread> opener = start_quiet_thread([this] {
    try {
      open();
    } catch (const std::bad_alloc&) {
      give_up("no memory");
    }
  });
  if (opener) {
    opener_ = *std::move(opener);
  } else {
    give_up(opener.error().message);
  }
}

GpuSorter::~GpuSorter() {
  if (opener_.joinable()) opener_.join();
}

void GpuSorter::give_up(const std::string& why) {
  usable_ = false;
  log(LogLevel::info, "sort: no GPU: {}", why);
}

// A first small sort also loads the kernels, and locks memory that transfers go through: a copy
// kernel's.
void GpuSorter::open() {
  const Stopwatch watch;
  auto device = open_device_();
  if (!device) return give_up(device.error().message);
  gpu_ = std::make_unique<Gpu>(std::move(*device), threads_);
  std::vector<Entry> few(size_t{1} << 20);
  for (size_t i = 0; i < few.size(); ++i) few[i].lo = i;
  const Status tried = device::radix_sort::sort(call_for(few), *gpu_->device, gpu_->transfer);
  if (!tried) give_up(tried.error().message);
  log(LogLevel::debug, "sort: GPU opened in {:.1f} ms", watch.milliseconds());
}

const char* GpuSorter::implementation() const {
  const bool is_lent = gpu_->device->properties().kind == device::DeviceKind::remote;
  return is_lent ? "hoistd" : "cuda";
}

bool GpuSorter::wants(size_t count) const { return count >= least_ && usable_; }

EntriesAre GpuSorter::sort(std::span<Entry> entries) {
  if (opener_.joinable()) opener_.join();
  if (!usable_) return EntriesAre::as_they_were;
  const Stopwatch watch;
  HostCall call = call_for(entries);
  bool wrote = false;
  call.wrote = &wrote;
  const Status done = device::radix_sort::sort(call, *gpu_->device, gpu_->transfer);
  if (!done) {
    give_up(done.error().message);
    was_used_ = false;  // what takes so long is not the GPU's time
    return wrote ? EntriesAre::lost : EntriesAre::as_they_were;
  }
  log(LogLevel::debug, "sort: {} entries there and back in {:.1f} ms", entries.size(),
      watch.milliseconds());
  was_used_ = true;
  return EntriesAre::sorted;
}

}  // namespace hoist::sort
