// The whole of a .holo file in one call. Streaming, selection and several sources: writer.h,
// reader.h.
#pragma once

#include <string>
#include <vector>

#include "tensors/file/reader.h"
#include "tensors/file/writer.h"

namespace hoist::tensors {

struct NamedTensor {
  std::string name;
  TensorView view;
};

// All threads of the process's pool take part in each of these.
Status write_holotensor(const std::string& path, const std::vector<NamedTensor>& tensors,
                        const HoloWriteOptions& options = {});
Result<HoloTensorReader> open_holotensor(const std::string& path);
Result<std::vector<LoadedTensor>> read_holotensor(const std::string& path,
                                                  const PartSelection& selection = {});

// A file of one tensor. Reading one that holds several is `invalid_argument`.
Status encode_to_file(const std::string& path, const NamedTensor& tensor,
                      const HoloWriteOptions& options = {});
Result<LoadedTensor> decode_from_file(const std::string& path);
// With the fewest parts whose measured quality reaches the target.
Result<LoadedTensor> decode_from_file_progressive(const std::string& path, double target);

}  // namespace hoist::tensors
