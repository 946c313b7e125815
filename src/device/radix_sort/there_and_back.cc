#include "device/radix_sort/there_and_back.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <vector>

#include "base/log.h"
#include "base/stopwatch.h"
#include "device/buffer.h"
#include "device/radix_sort/radix_sort.h"
#include "device/stream.h"
#include "device/stream_copy.h"

namespace hoist::device::radix_sort {
namespace {

constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio

// What changes one bit changes every bit with a chance of a half, so that changes of several
// elements do not make up for each other. Steele, Lea, Flood: "Fast splittable pseudorandom number
// generators" (2014).
uint64_t mixed(uint64_t word) {
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
  word = (word ^ word >> 27) * 0x94d049bb133111eb;
  return word ^ word >> 31;
}
// The halves of a product depend on both of its factors, and tell the payload where one is 0.
uint64_t mixed(const Entry& entry) {
  constexpr uint64_t kKey = 0xd1b54a32d192ed03;
  __extension__ using Product = unsigned __int128;
  const Product product = Product{entry.payload ^ kSpread} * (entry.key ^ kKey);
  const uint64_t both =
      (static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64)) + entry.payload;
  return (both ^ both >> 32) * kSpread;
}

// The same for the same elements in any order.
template <typename Element>
uint64_t sum_of(std::span<const Element> elements) {
  uint64_t sum = 0;
  for (const Element& element : elements) sum += mixed(element);
  return sum;
}

template <typename Element>
std::span<const Element> elements_in(const std::byte* bytes, size_t size) {
  return {reinterpret_cast<const Element*>(bytes), size / sizeof(Element)};
}

// The order of a call.
template <typename Element>
class Order {
 public:
  Order(Kind kind, bool descending) : mapping_(kind, descending) {}
  bool in_order(Element a, Element b) const { return mapping_.to_word(a) <= mapping_.to_word(b); }
  // Neither NaN nor -0.
  bool is_plain(Element bits) const {
    constexpr auto kInfinity =
        static_cast<Element>(sizeof(Element) == 8 ? 0x7ff0000000000000 : 0x7f800000);
    constexpr Element kTop = Mapping<Element>::kTop;
    return !mapping_.is_float || (bits != kTop && (bits & ~kTop) <= kInfinity);
  }

 private:
  Mapping<Element> mapping_;
};

template <>
class Order<Entry> {
 public:
  Order(Kind, bool descending) : flip_(descending ? ~uint64_t{0} : 0) {}
  bool in_order(const Entry& a, const Entry& b) const {
    const uint64_t first = a.key ^ flip_;
    const uint64_t second = b.key ^ flip_;
    return first < second || (first == second && a.payload < b.payload);
  }
  bool is_plain(const Entry&) const { return true; }

 private:
  uint64_t flip_;
};

// Chunks are of whole elements: their sizes are multiples of 32 KiB, but for the last one's.
template <typename Element>
class Reader : public HostReader {
 public:
  Reader(const HostCall& call, Order<Element> order) : call_(call), order_(order) {}

  Status read(uint64_t at, std::span<std::byte> into) override {
    std::memcpy(into.data(), call_.from.data() + at, into.size());
    if (!call_.copy.empty()) {
      stream_copy_if_large(call_.copy.size(), call_.copy.data() + at, into.data(), into.size());
    }
    const auto elements = elements_in<Element>(into.data(), into.size());
    sum_ += sum_of(elements);
    if (!call_.only_plain) return {};
    bool plain = true;
    for (const Element& element : elements) plain &= order_.is_plain(element);
    if (plain) return {};
    return fail(ErrorCode::unsupported, "a NaN or a -0 (radix sort)");
  }
  uint64_t sum() const { return sum_; }

 private:
  const HostCall& call_;
  const Order<Element> order_;
  std::atomic<uint64_t> sum_ = 0;
};

template <typename Element>
class Writer : public HostWriter {
 public:
  Writer(const HostCall& call, Order<Element> order) : call_(call), order_(order) {}

  Status write(uint64_t at, std::span<const std::byte> bytes) override {
    wrote_ = true;
    stream_copy_if_large(call_.to.size(), call_.to.data() + at, bytes.data(), bytes.size());
    const auto elements = elements_in<Element>(bytes.data(), bytes.size());
    sum_ += sum_of(elements);
    bool ascending = true;
    for (size_t i = 1; i < elements.size(); ++i) {
      ascending &= order_.in_order(elements[i - 1], elements[i]);
    }
    const std::lock_guard lock(mutex_);
    is_ascending_ &= ascending;
    starts_.push_back(at / sizeof(Element));
    return {};
  }

  bool wrote() const { return wrote_; }

  // When all has been written.
  bool has_sorted(uint64_t sum) const {
    const auto* const to = reinterpret_cast<const Element*>(call_.to.data());
    for (const size_t start : starts_) {
      if (start > 0 && !order_.in_order(to[start - 1], to[start])) return false;
    }
    return is_ascending_ && sum_ == sum;
  }

 private:
  const HostCall& call_;
  const Order<Element> order_;
  std::atomic<bool> wrote_ = false;
  std::atomic<uint64_t> sum_ = 0;
  std::mutex mutex_;
  bool is_ascending_ = true;
  std::vector<size_t> starts_;  // of chunks
};

Status run(const HostCall& call, uint64_t count, HostReader& reader, HostWriter& writer,
           Device& device, Transfer& transfer) {
  auto stream = Stream::create(device);
  if (!stream) return stream.error();
  auto data = Buffer::allocate(*stream, call.from.size());
  if (!data) return data.error();
  auto scratch = Buffer::allocate(*stream, call.from.size());
  if (!scratch) return scratch.error();
  // Memory of a stream's pool is there for what comes behind it; transfers have other streams.
  auto ready = Event::create(device);
  if (!ready) return ready.error();
  auto sorted = Event::create(device);
  if (!sorted) return sorted.error();

  Stopwatch watch;
  Status done = ready->record(*stream);
  if (done) done = transfer.upload(&reader, data->view(), {.after = &*ready});
  const double up = watch.restart();
  if (done) {
    done = enqueue(*stream, {call.kind, call.descending, static_cast<std::byte*>(data->data()),
                             static_cast<std::byte*>(scratch->data()), count});
  }
  if (done) done = sorted->record(*stream);
  if (done) done = transfer.download(data->view<const std::byte>(), &writer, {.after = &*sorted});
  // What was enqueued uses the buffers that end here.
  if (Status waited = stream->synchronize(); done && !waited) done = waited;
  log(LogLevel::debug, "radix sort: {} bytes up in {:.1f} ms, sorted and down in {:.1f} ms",
      call.from.size(), up, watch.milliseconds());
  return done;
}

template <typename Element>
Status sort_elements(const HostCall& call, Device& device, Transfer& transfer) {
  const Order<Element> order(call.kind, call.descending);
  Reader<Element> reader(call, order);
  Writer<Element> writer(call, order);
  const uint64_t count = call.from.size() / sizeof(Element);
  Status done;
  try {
    done = run(call, count, reader, writer, device, transfer);
  } catch (const std::exception&) {  // of memory or threads; so short a text takes none
    done = fail(ErrorCode::exhausted, "no memory");
  }
  if (call.wrote != nullptr) *call.wrote = writer.wrote();
  if (!done) return done;
  if (writer.has_sorted(reader.sum())) return {};
  return fail(ErrorCode::corrupt, "the device returned other elements than it was given");
}

}  // namespace

TransferTuning tuning_for(int threads) {
  TransferTuning tuning;
  tuning.threads = std::clamp(threads, 1, 2 * tuning.threads);
  return tuning;
}

Status sort(const HostCall& call, Device& device, Transfer& transfer) {
  if (call.wrote != nullptr) *call.wrote = false;
  const size_t size = element_size(call.kind);
  if (call.from.size() % size != 0 || call.to.size() != call.from.size() ||
      (!call.copy.empty() && call.copy.size() != call.from.size())) {
    return fail(ErrorCode::invalid_argument, "memory of two sizes (radix sort)");
  }
  if (call.from.empty()) return {};
  if (call.kind == Kind::entry) return sort_elements<Entry>(call, device, transfer);
  return size == 4 ? sort_elements<uint32_t>(call, device, transfer)
                   : sort_elements<uint64_t>(call, device, transfer);
}

}  // namespace hoist::device::radix_sort
