#include "capi/stop.h"

#include "capi/status.h"

namespace hoist::capi {
namespace {

class StoppableSource final : public container::Source {
 public:
  StoppableSource(std::unique_ptr<container::Source> source, const Stop& stop)
      : source_(std::move(source)), stop_(stop) {}

  uint64_t size() const override { return source_->size(); }
  const std::string& name() const override { return source_->name(); }
  Status read(uint64_t offset, std::span<const container::MutableBytes> parts) const override {
    if (Status stopped = stop_.status(); !stopped) return stopped;
    return source_->read(offset, parts);
  }

 private:
  std::unique_ptr<container::Source> source_;
  const Stop& stop_;
};

}  // namespace

std::stop_token token_of(const hoist_cancellation* cancellation) {
  return cancellation == nullptr ? std::stop_token() : cancellation->source.get_token();
}

Stop::Stop(hoist_progress_function* progress, void* context, const hoist_cancellation* cancellation)
    : progress_(progress), context_(context), forward_(token_of(cancellation), Forward{&source_}) {}

void Stop::report(uint64_t done, uint64_t total) {
  if (progress_ != nullptr && progress_(context_, done, total) != 0) source_.request_stop();
}

Status Stop::status() const {
  if (!is_wanted()) return {};
  return fail(ErrorCode::cancelled, "stopped as asked");
}

std::unique_ptr<container::Source> stoppable(std::unique_ptr<container::Source> source,
                                             const Stop& stop) {
  return std::make_unique<StoppableSource>(std::move(source), stop);
}

}  // namespace hoist::capi

using hoist::capi::guarded;
using hoist::capi::needed;

extern "C" {

hoist_status hoist_cancellation_create(hoist_cancellation** cancellation) {
  return guarded([&]() -> hoist::Status {
    if (hoist::Status there = needed(cancellation, "cancellation"); !there) return there;
    *cancellation = nullptr;
    *cancellation = new hoist_cancellation;
    return {};
  });
}

void hoist_cancellation_request(hoist_cancellation* cancellation) {
  if (cancellation == nullptr) return;
  cancellation->source.request_stop();
}

void hoist_cancellation_free(hoist_cancellation* cancellation) { delete cancellation; }

}  // extern "C"
