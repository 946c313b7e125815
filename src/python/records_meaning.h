// What texts, dates and whole columns stand for on a device, by the rules of hoist.records.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "python/records_device.h"

namespace hoist::python {

class RecordsMeaning : public records::ColumnMeaning {
 public:
  explicit RecordsMeaning(std::vector<DeviceColumnType> columns);

  records::Answer answer(size_t wanted, std::string_view text, records::Format format,
                         records::ColumnKind kind) override;
  std::optional<int64_t> timestamp(size_t wanted, const records::DateForm& form,
                                   int64_t count) override;
  Result<std::vector<records::Answer>> answers(size_t wanted, const records::Block& block) override;

  // `invalid_argument` where a column has values that its type does not hold.
  Status status() const;
  // Texts of the codes of a column, in the order of these.
  std::vector<std::string> texts(size_t wanted) const;

 private:
  struct Codes {
    std::mutex mutex;
    std::unordered_map<std::string, uint64_t> numbers;
  };
  records::Answer code(size_t wanted, std::string_view text);
  records::Answer decimal(size_t wanted, std::string_view text);

  std::vector<DeviceColumnType> columns_;
  std::vector<std::unique_ptr<Codes>> codes_;
  std::atomic<size_t> misfit_;  // a column; their count: none
};

}  // namespace hoist::python
