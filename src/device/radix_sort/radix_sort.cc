#include "device/radix_sort/radix_sort.h"

#include <algorithm>
#include <new>

#include "device/kernel.h"
#include "device/radix_sort/served_radix_sort.h"

namespace hoist::device::radix_sort {
namespace {

// The kind and order, the data, as much scratch memory and how many elements, temporary memory
// (null: only its size is wanted).
constinit const Kernel<uint32_t, bool, void*, void*, uint64_t, void*, size_t*> radix_sort(
    "hoist_cuda_radix_sort", "radix sort");

Status enqueue_cuda(Device& device, StreamHandle stream, const Call& call) {
  size_t size = 0;
  const auto run = [&](void* temporary) {
    return radix_sort.launch(device, stream, static_cast<uint32_t>(call.kind), call.descending,
                             call.data, call.scratch, call.count, temporary, &size);
  };
  if (Status asked = run(nullptr); !asked) return asked;
  const Result<void*> temporary = device.allocate(std::max<size_t>(size, 1), stream);
  if (!temporary) return temporary.error();
  Status done = run(*temporary);
  device.free(*temporary, stream);
  return done;
}

template <typename Word>
void sort_numbers(Kind kind, bool descending, std::span<std::byte> elements) {
  const std::span words(reinterpret_cast<Word*>(elements.data()), elements.size() / sizeof(Word));
  const Mapping<Word> mapping(kind, descending);
  for (Word& word : words) word = mapping.to_word(word);
  std::sort(words.begin(), words.end());
  for (Word& word : words) word = mapping.from_word(word);
}

}  // namespace

void sort_plainly(Kind kind, bool descending, std::span<std::byte> elements) {
  if (kind != Kind::entry) {
    return element_size(kind) == 4 ? sort_numbers<uint32_t>(kind, descending, elements)
                                   : sort_numbers<uint64_t>(kind, descending, elements);
  }
  const std::span entries(reinterpret_cast<Entry*>(elements.data()),
                          elements.size() / sizeof(Entry));
  std::stable_sort(entries.begin(), entries.end(), [=](const Entry& a, const Entry& b) {
    return descending ? a.key > b.key : a.key < b.key;
  });
}

Status enqueue(Device& device, StreamHandle stream, const Call& call) {
  if (call.count == 0) return {};
  switch (device.properties().kind) {
    case DeviceKind::cuda:
      return enqueue_cuda(device, stream, call);
    case DeviceKind::remote:
      return request(device, stream, call);
    case DeviceKind::cpu:
      break;
  }
  return run_on_host(device, stream, [call] {
    sort_plainly(call.kind, call.descending, std::span(call.data, call.bytes()));
  });
}

}  // namespace hoist::device::radix_sort
