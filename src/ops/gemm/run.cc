#include "ops/gemm/run.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "device/buffer.h"
#include "ops/gemm/kernel.h"
#include "ops/gemm/matrix_ends.h"
#include "ops/gemm/plan.h"

namespace hoist::gemm {
namespace {

constexpr size_t kC = 2;

// The result's former content, packed cut by cut as on the device, by which a failure leaves
// everything as it was. It is taken on its way to the device, when it is in cache.
class SavingReader : public device::HostReader {
 public:
  SavingReader(const SubMatrix& matrix, std::byte* saved) : matrix_(matrix), saved_(saved) {}
  Status read(uint64_t at, std::span<std::byte> into) override {
    const Status done = matrix_.read(at, into);
    std::memcpy(saved_ + at, into.data(), into.size());
    return done;
  }

 private:
  MatrixReader matrix_;
  std::byte* saved_;
};

class Execution {
 public:
  Execution(const hoist_blas_call& call, const Plan& plan, device::Transfer& transfer,
            device::Stream compute)
      : call_(call), plan_(plan), transfer_(transfer), compute_(std::move(compute)) {}

  Status run() {
    if (Status prepared = prepare(); !prepared) return prepared;
    std::thread downloader;
    try {
      downloader = std::thread([this] {
        const Status done = without_exceptions([this] {
          download_panels();
          return Status();
        });
        if (!done) downloaded_ = done;
      });
    } catch (const std::system_error&) {
      return fail(ErrorCode::exhausted, "no thread (gemm): use fewer threads");
    }
    Status done = without_exceptions([this] { return upload_and_compute(); });
    finish(done);
    downloader.join();
    if (done) done = downloaded_;
    // What was enqueued uses the buffers that end with this object.
    if (Status waited = compute_.synchronize(); done && !waited) done = waited;
    if (!done && was_written_) restore();
    return done;
  }

 private:
  // Both threads have to meet again whatever happens.
  template <typename Body>
  static Status without_exceptions(Body body) {
    try {
      return body();
    } catch (const std::bad_alloc&) {
      return fail(ErrorCode::exhausted, "no memory (gemm)");
    }
  }

  SubMatrix part(const Operand& operand, const Cut& cut) const {
    const bool is_triangle = call_.routine == HOIST_BLAS_SYRK || call_.routine == HOIST_BLAS_HERK;
    SubMatrix matrix;
    matrix.data =
        operand.data + static_cast<size_t>(cut.row + cut.column * operand.leading) * plan_.element;
    matrix.rows = cut.rows;
    matrix.columns = cut.columns;
    matrix.leading = operand.leading;
    matrix.element = plan_.element;
    if (operand.is_written && is_triangle) {
      matrix.region = call_.upper ? Region::upper : Region::lower;
    }
    return matrix;
  }

  // Where the packed cut of an operand lies in its buffer: cuts lie one after another.
  uint64_t place(const Operand& operand, int64_t index) const {
    if (!plan_.is_cut_operand(operand)) return 0;
    const int64_t across = operand.row_axis == plan_.axis ? operand.columns : operand.rows;
    return static_cast<uint64_t>(index * plan_.panel) * static_cast<uint64_t>(across) *
           plan_.element;
  }

  Status prepare() {
    for (size_t at = 0; at < plan_.operands.size(); ++at) {
      const uint64_t bytes = plan_.bytes(plan_.operands[at]);
      if (bytes == 0) continue;
      auto buffer = device::Buffer::allocate(compute_, bytes);
      if (!buffer) return tl::unexpected(buffer.error());
      buffers_[at] = std::move(*buffer);
    }
    for (int64_t index = 0; index < plan_.panels; ++index) {
      auto event = device::Event::create(compute_.device());
      if (!event) return tl::unexpected(event.error());
      computed_.push_back(std::move(*event));
    }
    auto ready = device::Event::create(compute_.device());
    if (!ready) return tl::unexpected(ready.error());
    ready_ = std::move(*ready);
    // Memory of a stream's pool is there for what comes behind it; transfers have other streams.
    if (Status recorded = ready_->record(compute_); !recorded) return recorded;
    const Operand& c = plan_.operands[kC];
    if (!c.is_read) return {};
    saved_.reset(new (std::nothrow) std::byte[plan_.bytes(c)]);
    if (saved_ != nullptr) return {};
    return fail(ErrorCode::exhausted, "no memory to keep the result's former content (gemm)");
  }

  void restore() {
    const Operand& c = plan_.operands[kC];
    if (saved_ == nullptr) return;  // beta = 0: it did not count
    // Only what was computed may have been written, and has been kept.
    const int64_t cuts = plan_.is_cut_operand(c) ? enqueued_ : std::min<int64_t>(enqueued_, 1);
    for (int64_t index = 0; index < cuts; ++index) {
      const SubMatrix to = part(c, plan_.cut(c, index));
      (void)MatrixWriter(to).write(0, std::span(saved_.get() + place(c, index), to.bytes()));
    }
  }

  Status upload(size_t at, int64_t index) {
    const Operand& operand = plan_.operands[at];
    SubMatrix from = part(operand, plan_.cut(operand, index));
    from.region = Region::all;
    const auto to = buffers_[at].view().subview(place(operand, index), from.bytes());
    const device::TransferRequest request = {.after = &*ready_};
    if (operand.is_written) {
      SavingReader reader(from, saved_.get() + place(operand, index));
      return transfer_.upload(&reader, to, request);
    }
    if (from.is_contiguous()) {
      return transfer_.upload(std::span<const std::byte>(from.data, from.bytes()), to, request);
    }
    MatrixReader reader(from);
    return transfer_.upload(&reader, to, request);
  }

  Status upload_operands(bool whole_ones, int64_t index) {
    for (size_t at = 0; at < plan_.operands.size(); ++at) {
      const Operand& operand = plan_.operands[at];
      if (operand.rows == 0 || !operand.is_read) continue;
      if (plan_.is_cut_operand(operand) == whole_ones) continue;
      if (Status done = upload(at, index); !done) return done;
    }
    return {};
  }

  Status upload_and_compute() {
    if (Status done = upload_operands(/*whole_ones=*/true, 0); !done) return done;
    for (int64_t index = 0; index < plan_.panels; ++index) {
      if (Status done = upload_operands(/*whole_ones=*/false, index); !done) return done;
      std::array<void*, 3> data = {};
      for (size_t at = 0; at < data.size(); ++at) {
        if (buffers_[at].size() == 0) continue;
        data[at] = static_cast<std::byte*>(buffers_[at].data()) + place(plan_.operands[at], index);
      }
      const hoist_blas_call part = plan_.panel_call(call_, index, data);
      if (Status done = enqueue(compute_, part); !done) return done;
      if (Status done = computed_[static_cast<size_t>(index)].record(compute_); !done) return done;
      const std::lock_guard lock(mutex_);
      ++enqueued_;
      changed_.notify_all();
    }
    return {};
  }

  void finish(const Status& status) {
    const std::lock_guard lock(mutex_);
    if (!status) is_abandoned_ = true;
    changed_.notify_all();
  }

  // Whether panel `index` will be computed.
  bool wait_for(int64_t index) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_abandoned_ || enqueued_ > index; });
    return !is_abandoned_;
  }

  // On its own thread. A result that is not cut is there when the last panel is done.
  void download_panels() {
    const Operand& c = plan_.operands[kC];
    const bool is_cut = plan_.is_cut_operand(c);
    for (int64_t index = is_cut ? 0 : plan_.panels - 1; index < plan_.panels; ++index) {
      if (!wait_for(index)) return;
      was_written_ = true;
      downloaded_ = download(c, index);
      if (!downloaded_) return;
    }
  }

  Status download(const Operand& c, int64_t index) {
    const SubMatrix to = part(c, plan_.cut(c, index));
    const device::View<const std::byte> from =
        buffers_[kC].view().subview(place(c, index), to.bytes());
    const device::TransferRequest request = {.after = &computed_[static_cast<size_t>(index)]};
    if (to.is_contiguous()) {
      return transfer_.download(from, std::span(to.data, to.bytes()), request);
    }
    MatrixWriter writer(to);
    return transfer_.download(from, &writer, request);
  }

  const hoist_blas_call& call_;
  const Plan plan_;
  device::Transfer& transfer_;
  device::Stream compute_;
  std::array<device::Buffer, 3> buffers_;
  std::vector<device::Event> computed_;
  std::optional<device::Event> ready_;
  std::unique_ptr<std::byte[]> saved_;  // of C, where it is read

  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t enqueued_ = 0;
  bool is_abandoned_ = false;
  // The downloader's until it is joined.
  bool was_written_ = false;
  Status downloaded_;
};

}  // namespace

Status run(const hoist_blas_call& call, device::Device& device, device::Transfer& transfer,
           uint64_t panel_bytes) {
  auto compute = device::Stream::create(device);
  if (!compute) return tl::unexpected(compute.error());
  return Execution(call, make_plan(call, panel_bytes), transfer, std::move(*compute)).run();
}

Status run(const hoist_blas_call& call, device::Device& device, device::Transfer& transfer) {
  return run(call, device, transfer, kPanelBytes);
}

}  // namespace hoist::gemm
