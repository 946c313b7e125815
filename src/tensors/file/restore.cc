#include "tensors/file/restore.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "container/output.h"

namespace hoist::tensors {
namespace {

constexpr mode_t kMode = 0666;

class Restore {
 public:
  Restore(const HoloTensorReader& reader, const RestoreOptions& options, container::Output output)
      : reader_(reader), options_(options), output_(std::move(output)) {}

  Status write(std::span<const std::byte> bytes) { return output_.write(bytes); }
  Status write_tensor(size_t number);
  Result<RestoreReport> finish();

  uint64_t total = 0;  // for progress

 private:
  const HoloTensorReader& reader_;
  const RestoreOptions& options_;
  container::Output output_;
  RestoreReport report_;
  uint64_t done_ = 0;
};

PartSelection selection_of(const RestoreOptions& options, const HoloTensor& tensor) {
  return options.selection ? options.selection(tensor) : PartSelection{};
}

Status Restore::write_tensor(size_t number) {
  const HoloTensor& tensor = reader_.header().tensors[number];
  const Result<LoadedTensor> loaded =
      reader_.decode(number, selection_of(options_, tensor), options_.tolerance, options_.pool);
  if (!loaded) return tl::unexpected(loaded.error());
  ++report_.tensors;
  report_.skipped += loaded->skipped;
  report_.lowest_quality = std::min(report_.lowest_quality, loaded->quality);
  done_ += loaded->bytes.size();
  if (options_.progress) options_.progress(done_, total);
  return output_.write(loaded->bytes);
}

Result<RestoreReport> Restore::finish() {
  if (Status synced = output_.sync(options_.durable); !synced) {
    return tl::unexpected(synced.error());
  }
  if (Status published = output_.publish(options_.durable); !published) {
    return tl::unexpected(published.error());
  }
  report_.bytes = output_.offset();
  return report_;
}

bool is_exact(const HoloTensor& tensor, const RestoreOptions& options) {
  const Result<std::vector<size_t>> parts = selected_parts(tensor, selection_of(options, tensor));
  return !is_any_subset(tensor.description.encoding) && parts &&
         parts->size() == tensor.parts.size() && !options.tolerance.skip_corrupted;
}

// The format that the end of a file's name stands for.
std::optional<ModelFormat> format_named(const std::string& path) {
  for (const ModelFormat format :
       {ModelFormat::safetensors, ModelFormat::gguf, ModelFormat::npy, ModelFormat::npz}) {
    const std::string end = fmt::format(".{}", name(format));
    const bool ends_so = path.size() >= end.size() &&
                         ::strcasecmp(path.c_str() + path.size() - end.size(), end.c_str()) == 0;
    if (ends_so) return format;
  }
  return std::nullopt;
}

// safetensors holds its own metadata under this name.
constexpr std::string_view kMetadataKey = "__metadata__";

// Why safetensors cannot hold the tensor.
Status check_for_safetensors(const HoloTensor& tensor) {
  if (!tensor.stored_as.empty()) {
    return fail(ErrorCode::unsupported,
                fmt::format("tensor '{}' is of GGUF's type {}, which safetensors does not have: "
                            "unpack to the format that it came from",
                            tensor.name, tensor.stored_as));
  }
  if (tensor.name == kMetadataKey) {
    return fail(ErrorCode::unsupported,
                fmt::format("a tensor is called '{}', which safetensors keeps for itself: unpack "
                            "to the format that it came from",
                            tensor.name));
  }
  return {};
}

// What a .safetensors begins with: the header's length and itself, padded to eight bytes.
std::string safetensors_header(const HoloTensorHeader& header) {
  std::string text = "{";
  uint64_t offset = 0;
  for (const HoloTensor& tensor : header.tensors) {
    const std::string name =
        nlohmann::json(tensor.name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    const uint64_t end = offset + tensor.bytes();
    text += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                        text.size() > 1 ? "," : "", name, properties(tensor.description.dtype).name,
                        fmt::join(tensor.description.shape, ","), offset, end);
    offset = end;
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t size = text.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + text;
}

}  // namespace

Result<RestoreReport> restore_file(const HoloTensorReader& reader, size_t file,
                                   const std::string& path, const RestoreOptions& options) {
  const HoloTensorHeader& header = reader.header();
  const HoloFile& packed = header.files[file];
  std::vector<size_t> numbers;
  for (size_t i = 0; i < header.tensors.size(); ++i) {
    if (header.tensors[i].file == file) numbers.push_back(i);
  }
  const auto exact = [&](size_t i) { return is_exact(header.tensors[i], options); };
  if (packed.format == ModelFormat::npz && !std::all_of(numbers.begin(), numbers.end(), exact)) {
    return fail(ErrorCode::unsupported,
                fmt::format("a .npz of approximations ({}): its checksums would be wrong, name an "
                            "output that ends in .safetensors",
                            path));
  }
  const Result<std::vector<std::byte>> skeleton = reader.skeleton(file);
  if (!skeleton) return tl::unexpected(skeleton.error());
  Result<container::Output> output = container::Output::create(path, kMode);
  if (!output) return tl::unexpected(output.error());
  Restore restore(reader, options, std::move(*output));
  for (const size_t i : numbers) restore.total += header.tensors[i].bytes();
  std::span<const std::byte> rest = *skeleton;
  uint64_t position = 0;
  for (const size_t i : numbers) {
    const HoloTensor& tensor = header.tensors[i];
    // The header's rules hold the gaps within the skeleton.
    const uint64_t gap = std::min<uint64_t>(tensor.offset - position, rest.size());
    if (Status done = restore.write(rest.first(gap)); !done) return tl::unexpected(done.error());
    rest = rest.subspan(gap);
    if (Status done = restore.write_tensor(i); !done) return tl::unexpected(done.error());
    position = tensor.offset + tensor.bytes();
  }
  if (Status done = restore.write(rest); !done) return tl::unexpected(done.error());
  return restore.finish();
}

Result<RestoreReport> restore_as_named(const HoloTensorReader& reader, const std::string& path,
                                       const RestoreOptions& options) {
  const std::vector<HoloFile>& files = reader.header().files;
  const std::optional<ModelFormat> named = format_named(path);
  if (files.size() == 1 && named.value_or(files[0].format) == files[0].format) {
    return restore_file(reader, 0, path, options);
  }
  if (named.value_or(ModelFormat::safetensors) == ModelFormat::safetensors &&
      (named || files.empty())) {
    return write_safetensors(reader, path, options);
  }
  if (files.size() > 1) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} files were packed ({}): name a folder (a new one ends with /), or "
                            "one .safetensors for all tensors",
                            files.size(), reader.name()));
  }
  const std::string own = files.empty() ? "" : fmt::format(".{} or ", name(files[0].format));
  return fail(ErrorCode::invalid_argument,
              fmt::format("what was packed gives no {} ({}): name an output that ends in "
                          "{}.safetensors",
                          name(*named), path, own));
}

Result<RestoreReport> write_safetensors(const HoloTensorReader& reader, const std::string& path,
                                        const RestoreOptions& options) {
  const HoloTensorHeader& header = reader.header();
  for (const HoloTensor& tensor : header.tensors) {
    if (Status fits = check_for_safetensors(tensor); !fits) return tl::unexpected(fits.error());
  }
  Result<container::Output> output = container::Output::create(path, kMode);
  if (!output) return tl::unexpected(output.error());
  Restore restore(reader, options, std::move(*output));
  restore.total = header.tensor_bytes();
  const std::string head = safetensors_header(header);
  if (Status done = restore.write(container::as_bytes(head)); !done) {
    return tl::unexpected(done.error());
  }
  for (size_t i = 0; i < header.tensors.size(); ++i) {
    if (Status done = restore.write_tensor(i); !done) return tl::unexpected(done.error());
  }
  return restore.finish();
}

}  // namespace hoist::tensors
