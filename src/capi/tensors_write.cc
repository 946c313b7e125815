// Writing .holo files.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/utf8.h"
#include "capi/status.h"
#include "capi/structs.h"
#include "capi/tensors_file.h"
#include "tensors/file/pack.h"
#include "tensors/transform/transform.h"

namespace hoist::capi {
namespace {

using namespace tensors;

Status wrong(const char* what, const char* given, const char* known) {
  return fail(ErrorCode::invalid_argument, fmt::format("no such {}: {} ({})", what, given, known));
}

Status encode_options(const hoist_tensors_write_options& options, EncodeOptions& how) {
  if (options.encoding != nullptr) {
    const std::optional<HolographicEncoding> found = find_encoding(options.encoding);
    if (!found) {
      return wrong("encoding", options.encoding, "embedded, spectral, rph, lrdf, lossless");
    }
    how.encoding = *found;
  }
  if (options.precision != nullptr) {
    const DTypeProperties* const found = find_dtype(std::string_view(options.precision));
    if (found == nullptr || !is_transform_precision(found->dtype)) {
      return wrong("precision", options.precision, "F32, F16, BF16");
    }
    how.precision = found->dtype;
  }
  if (options.fragments != 0) how.fragments = options.fragments;
  if (options.max_rank != 0) how.max_rank = options.max_rank;
  if (options.essential_share != 0) how.essential_share = options.essential_share;
  how.seed = options.seed;
  return {};
}

Result<HoloWriteOptions> write_options(const hoist_tensors_write_options& options,
                                       const Stop& stop) {
  HoloWriteOptions how;
  if (Status known = encode_options(options, how.encode); !known) {
    return known.error();
  }
  if (options.order != nullptr) {
    const std::string_view order = options.order;
    if (order != "layer" && order != "tensor") {
      return wrong("order", options.order, "layer, tensor").error();
    }
    how.order = order == "layer" ? FileOrder::layer : FileOrder::tensor;
  }
  how.parity = options.parity;
  how.digests = options.digests != 0;
  how.durable = options.volatile_output == 0;
  how.output = output_rule(options.replace);
  how.stop = stop.token();
  return how;
}

Result<TensorView> view_of(const char* dtype, const uint64_t* shape, size_t rank,
                           const void* elements, uint64_t bytes) {
  const DTypeProperties* const found = find_dtype(std::string_view(dtype));
  if (found == nullptr) {
    return fail(ErrorCode::unsupported, fmt::format("no such element type: {}", dtype));
  }
  if (rank > kMaxRank) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} dimensions, {} are possible", rank, kMaxRank));
  }
  if (Status there = rank == 0 ? Status() : needed(shape, "shape"); !there) {
    return there.error();
  }
  if (Status there = bytes == 0 ? Status() : needed(elements, "elements"); !there) {
    return there.error();
  }
  TensorView view;
  view.dtype = found->dtype;
  if (rank > 0) view.shape.assign(shape, shape + rank);
  // Before it is multiplied with anything.
  const Result<uint64_t> count = element_count(view.shape);
  if (!count) return count.error();
  view.bytes = {static_cast<const std::byte*>(elements), bytes};
  return view;
}

Status pack(const char* const* inputs, size_t count, const char* output,
            const hoist_tensors_write_options& options) {
  std::vector<std::string> paths;
  for (size_t i = 0; i < count; ++i) {
    if (Status there = needed(inputs[i], "input"); !there) return there;
    paths.emplace_back(inputs[i]);
  }
  const Result<ModelSource> model = ModelSource::open(paths);
  if (!model) return model.error();
  Stop stop(options.progress, options.progress_context, options.cancellation);
  Result<HoloWriteOptions> how = write_options(options, stop);
  if (!how) return how.error();
  how->output.inputs = model->paths();
  const auto report = [&](uint64_t done, uint64_t total) { stop.report(done, total); };
  const std::unique_ptr<ThreadPool> own = limited_pool(options.threads);
  const Result<HoloTensorWriter> packed =
      pack_model(*model, output, *how, own ? own.get() : &ThreadPool::process(), {report, report});
  if (!packed) return packed.error();
  return {};
}

}  // namespace
}  // namespace hoist::capi

using namespace hoist::capi;
using hoist::Result;
using hoist::Status;
using hoist::ThreadPool;
using hoist::tensors::HoloTensorWriter;

struct hoist_tensors_writer {
  explicit hoist_tensors_writer(const hoist_tensors_write_options& options)
      : stop(options.progress, options.progress_context, options.cancellation),
        own_pool(limited_pool(options.threads)) {}

  ThreadPool* pool() const { return own_pool ? own_pool.get() : &ThreadPool::process(); }

  Stop stop;
  std::unique_ptr<ThreadPool> own_pool;
  std::optional<HoloTensorWriter> writer;  // none any more once it is finished or has failed
};

namespace {

Status check_writer(const hoist_tensors_writer* writer) {
  if (Status there = needed(writer, "writer"); !there) return there;
  if (Status stopped = writer->stop.status(); !stopped) return stopped;
  if (writer->writer) return {};
  return hoist::fail(hoist::ErrorCode::invalid_argument,
                     "a writer that is finished or has failed: free it");
}

}  // namespace

extern "C" {

hoist_status hoist_tensors_writer_create(const char* path,
                                         const hoist_tensors_write_options* options,
                                         hoist_tensors_writer** writer) {
  return guarded([&]() -> Status {
    if (Status there = needed(writer, "writer"); !there) return there;
    *writer = nullptr;
    if (Status there = needed(path, "path"); !there) return there;
    const auto own = options_of(options, "hoist_tensors_write_options");
    if (!own) return own.error();
    auto made = std::make_unique<hoist_tensors_writer>(*own);
    const auto how = write_options(*own, made->stop);
    if (!how) return how.error();
    Result<HoloTensorWriter> created = HoloTensorWriter::create(path, *how);
    if (!created) return created.error();
    made->writer = std::move(*created);
    *writer = made.release();
    return {};
  });
}

hoist_status hoist_tensors_writer_add(hoist_tensors_writer* writer, const char* name,
                                      const char* dtype, const uint64_t* shape, size_t rank,
                                      const void* elements, uint64_t bytes) {
  return guarded([&]() -> Status {
    if (Status usable = check_writer(writer); !usable) return usable;
    if (Status there = needed(name, "name"); !there) return there;
    if (Status there = needed(dtype, "dtype"); !there) return there;
    if (!hoist::is_utf8(name)) {
      return hoist::fail(hoist::ErrorCode::invalid_argument, "a tensor's name that is no UTF-8");
    }
    const auto view = view_of(dtype, shape, rank, elements, bytes);
    if (!view) return view.error();
    Status added = writer->writer->add(name, *view, writer->pool());
    if (!added) writer->writer.reset();
    return added;
  });
}

hoist_status hoist_tensors_writer_finish(hoist_tensors_writer* writer, uint8_t* root) {
  return guarded([&]() -> Status {
    if (root != nullptr) std::fill_n(root, sizeof(hoist::Blake3Digest), uint8_t{0});
    if (Status usable = check_writer(writer); !usable) return usable;
    HoloTensorWriter last = *std::move(writer->writer);
    writer->writer.reset();
    const auto report = [&](uint64_t done, uint64_t total) { writer->stop.report(done, total); };
    if (Status finished = last.finish(report); !finished) return finished;
    if (root != nullptr && last.root()) std::memcpy(root, last.root()->data(), last.root()->size());
    return {};
  });
}

void hoist_tensors_writer_free(hoist_tensors_writer* writer) { delete writer; }

hoist_status hoist_tensors_pack(const char* const* inputs, size_t count, const char* output,
                                const hoist_tensors_write_options* options) {
  return guarded([&]() -> Status {
    if (Status there = needed(inputs, "inputs"); !there) return there;
    if (Status there = needed(output, "output"); !there) return there;
    if (count == 0) return hoist::fail(hoist::ErrorCode::invalid_argument, "no input");
    const auto own = options_of(options, "hoist_tensors_write_options");
    if (!own) return own.error();
    return pack(inputs, count, output, *own);
  });
}

}  // extern "C"
