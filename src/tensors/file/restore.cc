#include "tensors/file/restore.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

#include "container/output.h"
#include "tensors/file/partial_model.h"

namespace hoist::tensors {
namespace {

constexpr mode_t kMode = 0666;

// What several files of one call share.
struct Sum {
  RestoreReport report;
  std::set<std::string> left_out;  // names
  uint64_t done = 0;
  uint64_t total = 0;
};

class Restore {
 public:
  Restore(const HoloTensorReader& reader, const RestoreOptions& options, container::Output output,
          Sum& sum)
      : reader_(reader), options_(options), output_(std::move(output)), sum_(sum) {}

  Status write(std::span<const std::byte> bytes) { return output_.write(bytes); }
  Status pad_to(uint64_t offset);
  // Row-major and little-endian, or as the file that it came from has it.
  Status write_tensor(size_t number, bool as_in_file);
  Result<OutputFile> finish();

 private:
  const HoloTensorReader& reader_;
  const RestoreOptions& options_;
  container::Output output_;
  Sum& sum_;
};

PartSelection selection_of(const RestoreOptions& options, const HoloTensor& tensor) {
  return options.selection ? options.selection(tensor) : PartSelection{};
}

void advance(Sum& sum, const RestoreOptions& options, uint64_t bytes) {
  sum.done += bytes;
  if (options.progress) options.progress(sum.done, sum.total);
}

Status Restore::pad_to(uint64_t offset) {
  while (output_.offset() < offset) {
    const uint64_t zeros = std::min<uint64_t>(offset - output_.offset(), 4096);
    if (Status written = output_.zeros(zeros); !written) return written;
  }
  return {};
}

Status Restore::write_tensor(size_t number, bool as_in_file) {
  const HoloTensor& tensor = reader_.header().tensors[number];
  const Result<LoadedTensor> loaded =
      reader_.decode(number, selection_of(options_, tensor), options_.tolerance, options_.pool);
  if (!loaded) return loaded.error();
  RestoreReport& report = sum_.report;
  ++report.tensors;
  report.skipped += loaded->skipped;
  report.lowest_quality = std::min(report.lowest_quality, loaded->quality);
  advance(sum_, options_, loaded->bytes.size());
  if (!as_in_file || tensor.order.is_standard()) return output_.write(loaded->bytes);
  container::BlockBytes turned = container::BlockBytes::allocate(loaded->bytes.size());
  if (turned.size() != loaded->bytes.size()) {
    return fail(ErrorCode::exhausted, fmt::format("no memory for the {} bytes of tensor '{}'",
                                                  loaded->bytes.size(), tensor.name));
  }
  from_standard(tensor.order, tensor.grid(), loaded->bytes, turned);
  return output_.write(turned);
}

Result<OutputFile> Restore::finish() {
  sum_.report.bytes += output_.offset();
  return output_.take_file();
}

// Takes out of `numbers` the tensors that cannot be read. `corrupt` where none can.
Status leave_out_damaged(const HoloTensorReader& reader, const RestoreOptions& options, Sum& sum,
                         std::vector<size_t>& numbers) {
  if (!options.skip_damaged) return {};
  std::vector<size_t> intact;
  for (const size_t number : numbers) {
    const HoloTensor& tensor = reader.header().tensors[number];
    const Result<LoadedTensor> loaded =
        reader.decode(number, selection_of(options, tensor), options.tolerance, options.pool);
    advance(sum, options, tensor.bytes());
    if (loaded) {
      intact.push_back(number);
    } else if (loaded.error().code == ErrorCode::corrupt) {
      sum.report.left_out.push_back({tensor.name, loaded.error().message});
      sum.left_out.insert(tensor.name);
      sum.total -= std::min(sum.total, tensor.bytes());  // it is not written
    } else {
      return loaded.error();
    }
  }
  numbers = std::move(intact);
  return {};
}

// Leaves out tensors of unknown types: only the file's header, which is lost, had their shapes.
void leave_out_foreign(const HoloTensorReader& reader, Sum& sum, std::vector<size_t>& numbers) {
  std::erase_if(numbers, [&](size_t number) {
    const HoloTensor& tensor = reader.header().tensors[number];
    if (tensor.stored_as.empty()) return false;
    sum.report.left_out.push_back(
        {tensor.name, fmt::format("tensor '{}' is of type {}, which this version does not know, "
                                  "and the header with its shape is damaged ({})",
                                  tensor.name, tensor.stored_as, reader.name())});
    sum.left_out.insert(tensor.name);
    sum.total -= std::min(sum.total, tensor.bytes());
    return true;
  });
}

Status check_some_left(const HoloTensorReader& reader, const RestoreReport& report) {
  if (report.tensors > 0 || report.left_out.empty()) return {};
  return fail(ErrorCode::corrupt, fmt::format("none of {} tensors is intact ({}): get the file "
                                              "again",
                                              report.left_out.size(), reader.name()));
}

std::vector<const HoloTensor*> tensors_of(const HoloTensorReader& reader,
                                          std::span<const size_t> numbers) {
  std::vector<const HoloTensor*> tensors;
  for (const size_t number : numbers) tensors.push_back(&reader.header().tensors[number]);
  return tensors;
}

uint64_t bytes_to_come(const HoloTensorReader& reader, std::span<const size_t> numbers,
                       const RestoreOptions& options) {
  uint64_t bytes = 0;
  for (const HoloTensor* tensor : tensors_of(reader, numbers)) bytes += tensor->bytes();
  return options.skip_damaged ? 2 * bytes : bytes;
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

std::vector<size_t> tensors_of_file(const HoloTensorHeader& header, size_t file) {
  std::vector<size_t> numbers;
  for (size_t i = 0; i < header.tensors.size(); ++i) {
    if (header.tensors[i].file == file) numbers.push_back(i);
  }
  return numbers;
}

// The file as it was packed: skeleton and tensors as they lay.
Status write_whole(Restore& restore, const HoloTensorHeader& header,
                   std::span<const size_t> numbers, std::span<const std::byte> skeleton) {
  uint64_t position = 0;
  for (const size_t i : numbers) {
    const HoloTensor& tensor = header.tensors[i];
    // The header's rules hold the gaps within the skeleton.
    const uint64_t gap = std::min<uint64_t>(tensor.offset - position, skeleton.size());
    if (Status done = restore.write(skeleton.first(gap)); !done) return done;
    skeleton = skeleton.subspan(gap);
    if (Status done = restore.write_tensor(i, true); !done) return done;
    position = tensor.offset + tensor.bytes();
  }
  return restore.write(skeleton);
}

Status write_partial(Restore& restore, const PartialModel& model, std::span<const size_t> numbers,
                     bool as_in_file) {
  if (Status done = restore.write(container::as_bytes(model.head)); !done) return done;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (Status padded = restore.pad_to(model.offsets[i]); !padded) return padded;
    if (Status done = restore.write_tensor(numbers[i], as_in_file); !done) return done;
  }
  return {};
}

Result<container::Output> output_of(const std::string& path, const RestoreOptions& options) {
  return container::Output::create(path, kMode, options.output);
}

Error header_lost(const HoloFile& packed, const Error& error, const RestoreOptions& options) {
  const bool may_do_without = options.skip_damaged && packed.format != ModelFormat::safetensors;
  return fail(
      error.code,
      fmt::format("the header of {}: {}{}", packed.name, error.message,
                  may_do_without ? "; an output that ends in .safetensors does without it" : ""));
}

// A packed file, not yet under its name. Nothing where it would hold no tensor and cannot.
Result<std::optional<OutputFile>> make_file(const HoloTensorReader& reader, size_t file,
                                            const std::string& path, const RestoreOptions& options,
                                            Sum& sum) {
  const HoloTensorHeader& header = reader.header();
  const HoloFile& packed = header.files[file];
  std::vector<size_t> numbers = tensors_of_file(header, file);
  const auto exact = [&](size_t i) { return is_exact(header.tensors[i], options); };
  if (packed.format == ModelFormat::npz && !std::all_of(numbers.begin(), numbers.end(), exact)) {
    return fail(ErrorCode::unsupported,
                fmt::format("a .npz of approximations ({}): its checksums would be wrong, name an "
                            "output that ends in .safetensors",
                            path));
  }
  const Result<std::vector<std::byte>> skeleton = reader.skeleton(file);
  if (!skeleton) {
    const bool can_do_without =
        options.skip_damaged && skeleton.error().code == ErrorCode::corrupt &&
        (packed.format == ModelFormat::safetensors || packed.format == ModelFormat::json_index);
    if (!can_do_without) return header_lost(packed, skeleton.error(), options);
    // As `hoist tensors verify` calls it.
    sum.report.left_out.push_back(
        {fmt::format("the header of {}", packed.name), skeleton.error().message});
    if (packed.format == ModelFormat::json_index) return std::nullopt;
  }
  Result<container::Output> output = output_of(path, options);
  if (!output) return output.error();
  const size_t all = numbers.size();
  if (Status read = leave_out_damaged(reader, options, sum, numbers); !read) {
    return read.error();
  }
  if (packed.format == ModelFormat::npy && numbers.size() < all) return std::nullopt;
  Restore restore(reader, options, std::move(*output), sum);
  Status written;
  if (!skeleton) {
    leave_out_foreign(reader, sum, numbers);
    const Result<PartialModel> model = bare_safetensors(tensors_of(reader, numbers));
    if (!model) return model.error();
    written = write_partial(restore, *model, numbers, false);
  } else if (packed.format == ModelFormat::json_index && !sum.left_out.empty()) {
    const Result<std::string> index = partial_index(*skeleton, sum.left_out, packed.name);
    if (!index) return index.error();
    written = restore.write(container::as_bytes(*index));
  } else if (numbers.size() < all) {
    const Result<PartialModel> model =
        partial_model(packed.format, *skeleton, tensors_of(reader, numbers), packed.name);
    if (!model) return model.error();
    written = write_partial(restore, *model, numbers, true);
  } else {
    written = write_whole(restore, header, numbers, *skeleton);
  }
  if (!written) return written.error();
  Result<OutputFile> made = restore.finish();
  if (!made) return made.error();
  return *std::move(made);
}

Result<RestoreReport> publish(const HoloTensorReader& reader, std::vector<OutputFile> files,
                              const RestoreOptions& options, Sum& sum) {
  if (Status some = check_some_left(reader, sum.report); !some) {
    return some.error();
  }
  if (Status done = OutputFile::publish_all(files, options.durable); !done) {
    return done.error();
  }
  return std::move(sum.report);
}

// All packed files into a folder that is there.
Result<RestoreReport> restore_into(const HoloTensorReader& reader, const std::string& folder,
                                   const RestoreOptions& options) {
  const std::vector<HoloFile>& packed = reader.header().files;
  const auto path_of = [&](size_t file) {
    return (std::filesystem::path(folder) / packed[file].name).string();
  };
  Sum sum;
  for (size_t file = 0; file < packed.size(); ++file) {
    // All of them before the first tensor is decoded.
    if (Status allowed = check_output(path_of(file), options.output); !allowed) {
      return allowed.error();
    }
    sum.total += bytes_to_come(reader, tensors_of_file(reader.header(), file), options);
  }
  std::vector<OutputFile> files;
  // An index says what the others hold, so it comes last.
  for (const bool is_index : {false, true}) {
    for (size_t file = 0; file < packed.size(); ++file) {
      if ((packed[file].format == ModelFormat::json_index) != is_index) continue;
      Result<std::optional<OutputFile>> made = make_file(reader, file, path_of(file), options, sum);
      if (!made) return made.error();
      if (*made) files.push_back(**std::move(made));
    }
  }
  return publish(reader, std::move(files), options, sum);
}

}  // namespace

Result<RestoreReport> restore_file(const HoloTensorReader& reader, size_t file,
                                   const std::string& path, const RestoreOptions& options) {
  Sum sum;
  sum.total = bytes_to_come(reader, tensors_of_file(reader.header(), file), options);
  Result<std::optional<OutputFile>> made = make_file(reader, file, path, options, sum);
  if (!made) return made.error();
  std::vector<OutputFile> files;
  if (*made) files.push_back(**std::move(made));
  return publish(reader, std::move(files), options, sum);
}

Result<RestoreReport> restore_all(const HoloTensorReader& reader, const std::string& folder,
                                  const RestoreOptions& options) {
  std::filesystem::path path(folder);
  if (!path.has_filename()) path = path.parent_path();  // a slash at its end
  std::error_code error;
  const bool is_new = std::filesystem::create_directories(path, error);
  if (error) {
    return fail(ErrorCode::io, fmt::format("cannot write into {} ({}): name another folder", folder,
                                           error.message()));
  }
  Result<RestoreReport> report = restore_into(reader, path.string(), options);
  if (!report && is_new) std::filesystem::remove(path, error);  // empty, or it stays
  return report;
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
  const bool has_own = !files.empty() && files[0].format != ModelFormat::safetensors;
  const std::string own = has_own ? fmt::format(".{} or ", name(files[0].format)) : "";
  return fail(ErrorCode::invalid_argument,
              fmt::format("what was packed gives no {} ({}): name an output that ends in "
                          "{}.safetensors",
                          name(*named), path, own));
}

Result<RestoreReport> write_safetensors(const HoloTensorReader& reader, const std::string& path,
                                        const RestoreOptions& options) {
  const HoloTensorHeader& header = reader.header();
  for (const HoloTensor& tensor : header.tensors) {
    if (Status fits = check_for_safetensors(tensor); !fits) return fits.error();
  }
  Result<container::Output> output = output_of(path, options);
  if (!output) return output.error();
  std::vector<size_t> numbers(header.tensors.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  Sum sum;
  sum.total = bytes_to_come(reader, numbers, options);
  if (Status read = leave_out_damaged(reader, options, sum, numbers); !read) {
    return read.error();
  }
  Restore restore(reader, options, std::move(*output), sum);
  const Result<PartialModel> model = bare_safetensors(tensors_of(reader, numbers));
  if (!model) return model.error();
  if (Status done = write_partial(restore, *model, numbers, false); !done) {
    return done.error();
  }
  Result<OutputFile> made = restore.finish();
  if (!made) return made.error();
  std::vector<OutputFile> files;
  files.push_back(*std::move(made));
  return publish(reader, std::move(files), options, sum);
}

}  // namespace hoist::tensors
