// Elements into the caller's memory, and whole files back.
#include <fmt/core.h>

#include <algorithm>

#include "capi/status.h"
#include "capi/structs.h"
#include "capi/tensors_file.h"
#include "tensors/file/restore.h"

namespace hoist::capi {
namespace {

using namespace tensors;

Result<double> read_stored(const hoist_tensors_file& file, size_t number,
                           std::span<std::byte> into) {
  const ModelTensor& tensor = file.model->tensors()[number];
  if (tensor.bytes > file.max_tensor_bytes) {
    return fail(ErrorCode::exhausted,
                fmt::format("tensor '{}' has {} bytes, the limit is {}", tensor.name, tensor.bytes,
                            file.max_tensor_bytes));
  }
  if (Status read = file.model->read(tensor, into); !read) return read.error();
  return 1.0;
}

// The quality of what was read.
Result<double> read_tensor(const hoist_tensors_file& file, size_t tensor, void* elements,
                           uint64_t bytes, const Selection& selection) {
  if (bytes != file.bytes(tensor)) {
    return fail(ErrorCode::invalid_argument, fmt::format("room for {} bytes, tensor {} has {}",
                                                         bytes, tensor, file.bytes(tensor)));
  }
  if (bytes > 0) {
    if (Status there = needed(elements, "elements"); !there) return there.error();
  }
  const std::span into(static_cast<std::byte*>(elements), bytes);
  if (file.model) return read_stored(file, tensor, into);
  const Result<LoadedTensor> loaded =
      file.holo->decode_into(tensor, into, selection.of_tensor(file.holo->header().tensors[tensor]),
                             selection.tolerance(), selection.pool());
  if (!loaded) return loaded.error();
  return loaded->quality;
}

Status read_all(const hoist_tensors_file& file, void* const* elements, const uint64_t* bytes,
                double* qualities, const Selection& selection, Stop& stop) {
  uint64_t total = 0;
  for (size_t i = 0; i < file.count(); ++i) total += elements[i] == nullptr ? 0 : file.bytes(i);
  uint64_t done = 0;
  for (size_t i = 0; i < file.count(); ++i) {
    if (elements[i] == nullptr) continue;
    if (Status stopped = stop.status(); !stopped) return stopped;
    const Result<double> quality = read_tensor(file, i, elements[i], bytes[i], selection);
    if (!quality) return quality.error();
    if (qualities != nullptr) qualities[i] = *quality;
    done += bytes[i];
    stop.report(done, total);
  }
  return stop.status();  // what was told last may have been the wish
}

Status unpack(const char* input, const char* output, OutputRule rule, const Selection& selection,
              Stop& stop) {
  rule.inputs = {input};
  if (Status allowed = check_output(output, rule); !allowed) return allowed;
  Result<std::unique_ptr<container::Source>> source = container::open_file_source(input);
  if (!source) return source.error();
  const Result<HoloTensorReader> reader =
      HoloTensorReader::open(stoppable(std::move(*source), stop));
  if (!reader) return reader.error();
  RestoreOptions how;
  how.selection = [&](const HoloTensor& tensor) { return selection.of_tensor(tensor); };
  how.tolerance = selection.tolerance();
  how.pool = selection.pool();
  how.output = std::move(rule);
  how.progress = [&](uint64_t done, uint64_t total) { stop.report(done, total); };
  const Result<RestoreReport> done = restore_as_named(*reader, output, how);
  if (!done) return done.error();
  return {};
}

}  // namespace
}  // namespace hoist::capi

using namespace hoist::capi;
using hoist::Result;
using hoist::Status;

extern "C" {

hoist_status hoist_tensors_read(const hoist_tensors_file* file, size_t tensor,
                                const hoist_tensors_read_options* options, void* elements,
                                uint64_t bytes, double* quality) {
  return guarded([&]() -> Status {
    if (quality != nullptr) *quality = 0;
    if (Status there = check_tensor(file, tensor); !there) return there;
    const auto own = options_of(options, "hoist_tensors_read_options");
    if (!own) return own.error();
    const Result<Selection> selection = Selection::of(*own);
    if (!selection) return selection.error();
    const Stop stop(nullptr, nullptr, own->cancellation);
    if (Status stopped = stop.status(); !stopped) return stopped;
    const Result<double> read = read_tensor(*file, tensor, elements, bytes, *selection);
    if (!read) return read.error();
    if (quality != nullptr) *quality = *read;
    return {};
  });
}

hoist_status hoist_tensors_read_all(const hoist_tensors_file* file,
                                    const hoist_tensors_read_options* options,
                                    void* const* elements, const uint64_t* bytes,
                                    double* qualities) {
  return guarded([&]() -> Status {
    if (Status there = needed(file, "file"); !there) return there;
    if (qualities != nullptr) std::fill_n(qualities, file->count(), 0.0);
    if (file->count() > 0) {
      if (Status there = needed(elements, "elements"); !there) return there;
      if (Status there = needed(bytes, "bytes"); !there) return there;
    }
    const auto own = options_of(options, "hoist_tensors_read_options");
    if (!own) return own.error();
    const Result<Selection> selection = Selection::of(*own);
    if (!selection) return selection.error();
    Stop stop(own->progress, own->progress_context, own->cancellation);
    return read_all(*file, elements, bytes, qualities, *selection, stop);
  });
}

hoist_status hoist_tensors_unpack(const char* input, const char* output,
                                  const hoist_tensors_read_options* options) {
  return guarded([&]() -> Status {
    if (Status there = needed(input, "input"); !there) return there;
    if (Status there = needed(output, "output"); !there) return there;
    const auto own = options_of(options, "hoist_tensors_read_options");
    if (!own) return own.error();
    const Result<Selection> selection = Selection::of(*own);
    if (!selection) return selection.error();
    Stop stop(own->progress, own->progress_context, own->cancellation);
    return unpack(input, output, output_rule(own->replace), *selection, stop);
  });
}

}  // extern "C"
