#include "ops/gemm/run.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/quiet_thread.h"
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

}  // namespace

class UndoableRun::Execution {
 public:
  Execution(const hoist_blas_call& call, const Plan& plan, device::Transfer& transfer,
            device::Stream compute, ResidentMatrices* resident)
      : call_(call),
        plan_(plan),
        transfer_(transfer),
        compute_(std::move(compute)),
        resident_(resident) {}

  Status run() {
    if (Status prepared = prepare(); !prepared) return prepared;
    Result<std::thread> downloader = start_quiet_thread([this] {
      const Status done = without_exceptions([this] {
        download_panels();
        return Status();
      });
      if (!done) downloaded_ = done;
    });
    if (!downloader) return downloader.error();
    Status done = without_exceptions([this] { return upload_and_compute(); });
    finish(done);
    downloader->join();
    if (done) done = downloaded_;
    // What was enqueued uses the buffers that end with this object.
    if (Status waited = compute_.synchronize(); done && !waited) done = waited;
    if (!done && was_written_) restore();
    return done;
  }

  // Makes the result's memory what it was.
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

 private:
  // Both threads have to meet again whatever happens.
  template <typename Body>
  static Status without_exceptions(Body body) {
    try {
      return body();
    } catch (const std::exception&) {  // no memory, no thread
      return fail(ErrorCode::exhausted, "no memory");
    }
  }

  SubMatrix part(const Operand& operand, const Cut& cut) const {
    const bool is_triangle = call_.routine == HOIST_BLAS_SYRK || call_.routine == HOIST_BLAS_HERK;
    SubMatrix matrix;
    matrix.data = operand.item(cut.item) +
                  static_cast<size_t>(cut.row + cut.column * operand.leading) * plan_.element;
    matrix.count = cut.items;
    matrix.items = operand.items == nullptr ? nullptr : operand.items + cut.item;
    matrix.stride = operand.stride;
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
    const int64_t across = plan_.axis == Axis::batch        ? operand.rows * operand.columns
                           : operand.row_axis == plan_.axis ? operand.columns
                                                            : operand.rows;
    return static_cast<uint64_t>(index * plan_.panel) * static_cast<uint64_t>(across) *
           plan_.element;
  }

  Status prepare() {
    for (size_t at = 0; at < plan_.operands.size(); ++at) {
      const uint64_t bytes = plan_.bytes(plan_.operands[at]);
      if (bytes == 0 || find_resident(at)) continue;
      auto buffer = device::Buffer::allocate(compute_, bytes);
      if (!buffer) return buffer.error();
      buffers_[at] = std::move(*buffer);
    }
    for (int64_t index = 0; index < plan_.panels; ++index) {
      auto event = device::Event::create(compute_.device());
      if (!event) return event.error();
      computed_.push_back(std::move(*event));
    }
    auto ready = device::Event::create(compute_.device());
    if (!ready) return ready.error();
    ready_ = std::move(*ready);
    // Memory of a stream's pool is there for what comes behind it; transfers have other streams.
    if (Status recorded = ready_->record(compute_); !recorded) return recorded;
    const Operand& c = plan_.operands[kC];
    if (!c.is_read) return {};
    saved_.reset(new (std::nothrow) std::byte[plan_.bytes(c)]);
    if (saved_ != nullptr) return {};
    return fail(ErrorCode::exhausted, "no memory to keep the result's former content (gemm)");
  }

  // Whether the operand has a copy that stays, with or without its content.
  bool find_resident(size_t at) {
    const Operand& operand = plan_.operands[at];
    if (resident_ == nullptr || operand.is_written || operand.count > 1) return false;
    kept_[at] = resident_->find(compute_.device(), operand, plan_.element);
    return kept_[at].buffer != nullptr;
  }

  // Such a copy is whole, however the panels are cut.
  Status upload_resident() {
    for (size_t at = 0; at < kept_.size(); ++at) {
      if (kept_[at].buffer == nullptr || kept_[at].is_there) continue;
      const Operand& operand = plan_.operands[at];
      const Cut whole = {.rows = operand.rows, .columns = operand.columns};
      const device::Span<std::byte> to = kept_[at].buffer->view();
      if (Status done = upload(part(operand, whole), to, /*computing=*/false); !done) return done;
      resident_->add(operand, plan_.element, kept_[at]);
    }
    return {};
  }

  Status upload(size_t at, int64_t index) {
    const Operand& operand = plan_.operands[at];
    SubMatrix from = part(operand, plan_.cut(operand, index));
    from.region = Region::all;
    const auto to = buffers_[at].view().subspan(place(operand, index), from.bytes());
    if (operand.is_written) {
      const device::TransferRequest request = {.after = &*ready_, .device_computes = index > 0};
      SavingReader reader(from, saved_.get() + place(operand, index));
      return transfer_.upload(&reader, to, request);
    }
    return upload(from, to, index > 0);
  }

  Status upload(const SubMatrix& from, device::Span<std::byte> to, bool computing) {
    const device::TransferRequest request = {.after = &*ready_, .device_computes = computing};
    if (from.is_contiguous()) {
      return transfer_.upload(std::span<const std::byte>(from.data, from.bytes()), to, request);
    }
    MatrixReader reader(from);
    return transfer_.upload(&reader, to, request);
  }

  Status upload_operands(bool whole_ones, int64_t index) {
    for (size_t at = 0; at < plan_.operands.size(); ++at) {
      const Operand& operand = plan_.operands[at];
      if (operand.rows == 0 || !operand.is_read || kept_[at].buffer != nullptr) continue;
      if (plan_.is_cut_operand(operand) == whole_ones) continue;
      if (Status done = upload(at, index); !done) return done;
    }
    return {};
  }

  // The call on what panel `index` has on the device.
  hoist_blas_call panel(int64_t index) const {
    std::array<void*, 3> data = {};
    for (size_t at = 0; at < data.size(); ++at) {
      const Operand& operand = plan_.operands[at];
      if (kept_[at].buffer != nullptr) {
        const Cut cut = plan_.cut(operand, index);
        const int64_t first = cut.row + cut.column * operand.rows;
        data[at] = kept_[at].buffer->view().data + static_cast<size_t>(first) * plan_.element;
      } else if (buffers_[at].size() != 0) {
        data[at] = buffers_[at].view().data + place(operand, index);
      }
    }
    hoist_blas_call part = plan_.panel_call(call_, index, data);
    if (kept_[0].buffer != nullptr) part.lda = plan_.operands[0].rows;
    if (kept_[1].buffer != nullptr) part.ldb = plan_.operands[1].rows;
    return part;
  }

  Status upload_and_compute() {
    if (Status done = upload_resident(); !done) return done;
    if (Status done = upload_operands(/*whole_ones=*/true, 0); !done) return done;
    for (int64_t index = 0; index < plan_.panels; ++index) {
      if (Status done = upload_operands(/*whole_ones=*/false, index); !done) return done;
      if (Status done = enqueue(compute_, panel(index)); !done) return done;
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
    const device::Span<const std::byte> from =
        buffers_[kC].view().subspan(place(c, index), to.bytes());
    const device::TransferRequest request = {.after = &computed_[static_cast<size_t>(index)],
                                             .device_computes = index + 1 < plan_.panels};
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
  ResidentMatrices* const resident_;
  std::array<ResidentMatrices::Copy, 3> kept_;  // in the place of buffers
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

UndoableRun::UndoableRun(const hoist_blas_call& call, device::Device& device,
                         device::Transfer& transfer, uint64_t panel_bytes,
                         ResidentMatrices* resident)
    : call_(call),
      device_(device),
      transfer_(transfer),
      panel_bytes_(panel_bytes),
      resident_(resident) {}

UndoableRun::~UndoableRun() = default;

Status UndoableRun::run() {
  auto compute = device::Stream::create(device_);
  if (!compute) return compute.error();
  execution_ = std::make_unique<Execution>(call_, make_plan(call_, panel_bytes_), transfer_,
                                           std::move(*compute), resident_);
  return execution_->run();
}

void UndoableRun::undo() { execution_->restore(); }

Status run(const hoist_blas_call& call, device::Device& device, device::Transfer& transfer,
           uint64_t panel_bytes, ResidentMatrices* resident) {
  return UndoableRun(call, device, transfer, panel_bytes, resident).run();
}

}  // namespace hoist::gemm
