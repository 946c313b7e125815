#include "python/tensors_plain.h"

#include <nanobind/stl/vector.h>

#include <memory>
#include <span>
#include <utility>

#include "base/file.h"
#include "base/output_file.h"
#include "container/reader.h"
#include "python/errors.h"
#include "python/released_gil.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

using tensors::ModelSource;
using tensors::ModelTensor;

// Fits every element type and the widest vectors.
constexpr uint64_t kAlignment = 64;

struct Group {
  std::vector<const ModelTensor*> tensors;
  std::vector<uint64_t> offsets;
  uint64_t size = 0;
  std::unique_ptr<container::BlockBytes> bytes;
};

std::vector<Group> grouped(const ModelSource& source, const std::vector<size_t>& indices,
                           uint64_t most) {
  std::vector<Group> groups;
  for (const size_t index : indices) {
    if (index >= source.tensors().size()) raise({ErrorCode::invalid_argument, "no such tensor"});
    const ModelTensor& tensor = source.tensors()[index];
    uint64_t offset = 0;
    if (!groups.empty()) {
      offset = (groups.back().size + kAlignment - 1) / kAlignment * kAlignment;
    }
    if (groups.empty() || offset > most || tensor.bytes > most - offset) {
      groups.emplace_back();
      offset = 0;
    }
    Group& group = groups.back();
    group.tensors.push_back(&tensor);
    group.offsets.push_back(offset);
    group.size = offset + tensor.bytes;
  }
  return groups;
}

Status read_into(const ModelSource& source, Group& group) {
  group.bytes =
      std::make_unique<container::BlockBytes>(container::BlockBytes::allocate(group.size));
  if (group.bytes->size() != group.size) {
    return Error{ErrorCode::exhausted, "no memory for " + group.tensors.front()->name};
  }
  const std::span<std::byte> bytes = *group.bytes;
  for (size_t i = 0; i < group.tensors.size(); ++i) {
    const ModelTensor& tensor = *group.tensors[i];
    const Status read = source.read(tensor, bytes.subspan(group.offsets[i], tensor.bytes));
    if (!read) return read;
  }
  return {};
}

}  // namespace

nb::list read_groups(const ModelSource& source, const std::vector<size_t>& indices, uint64_t most) {
  std::vector<Group> groups = grouped(source, indices, most);
  const Status status = [&]() -> Status {
    const ReleasedGil released;
    for (Group& group : groups) {
      if (Status read = read_into(source, group); !read) return read;
    }
    return {};
  }();
  check(status);
  nb::list list;
  for (Group& group : groups) {
    std::byte* const data = group.bytes->data();
    list.append(nb::make_tuple(byte_array(std::move(group.bytes), data, group.size),
                               std::move(group.offsets)));
  }
  return list;
}

void write_file(const FilePath& path, const std::vector<InputBytes>& pieces) {
  const Status status = [&]() -> Status {
    const ReleasedGil released;
    Result<OutputFile> file = OutputFile::create(path.text, {.replace = Replace::any});
    if (!file) return file.error();
    for (const InputBytes& piece : pieces) {
      if (Status written = write_full(file->fd(), piece.data(), piece.size(), path.text);
          !written) {
        return written;
      }
    }
    return file->publish(false);
  }();
  check(status);
}

}  // namespace hoist::python
