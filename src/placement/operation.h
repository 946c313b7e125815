// What placement decides about: operations, their variants and their implementations.
//
// An operation is one kind of work ("sort", "checksum") that several implementations do with the
// same answer. A variant is a way to use it whose costs are its own ("C", "locale"): choices are
// made for each variant by the size of the input.
//
//   Operation operation;
//   operation.name = "checksum";
//   operation.variants = {{.name = "crc32"}};
//   operation.implementations = {{.name = "cpu-1"}, {.name = "cpu-all", .threads = 0}};
//   operation.prepare = [](size_t variant, const Shape& shape, const std::string&) -> Result<Run> {
//     auto bytes = std::make_shared<std::vector<std::byte>>(shape.bytes);
//     return [bytes](size_t implementation) -> Status { … return {}; };
//   };
//   Registry::process().add(std::move(operation));
//
// choose.h then picks by what `hoist tune` (measure.h) found.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "placement/shape.h"

namespace hoist::placement {

class DecisionTable;

struct Implementation {
  std::string name;  // "original", "cpu-1", "cpu-all", "cuda", "hoistd"
  int threads = 1;   // that it keeps busy; 0: all usable CPUs, so that with one CPU it is unused
  Residency residency = Residency::host;         // of the data that it takes
  std::function<bool(const Shape&)> supports{};  // empty: every shape
  // Threads of this process stay busy for a while after a run, waiting for more work (those of a
  // BLAS do). They may delay whatever is measured next, so that waits until they rest.
  bool lingers = false;
  // Standard errors of what was measured by which it must be ahead of others to be chosen: more
  // than one where it takes what others could use meanwhile, another GPU say. Ascending in the
  // list.
  double lead = 1;
};

// Whether an implementation of that name is there only while a hoistd answers. What has one is
// decided about twice, without and with (MeasuredVariant).
inline bool needs_hoistd(std::string_view implementation) { return implementation == "hoistd"; }

// From `from` bytes on the implementation of that name, up to the next interval.
struct Interval {
  uint64_t from = 0;
  std::string implementation;
  bool operator==(const Interval&) const = default;
};

struct Variant {
  std::string name;
  uint64_t items = 1;  // that the bytes come in when it is measured
  // What runs where nothing is measured: conservative, ascending from 0. Empty: the first
  // implementation, whatever the size.
  std::vector<Interval> defaults{};
  uint64_t item_bytes = 0;  // not 0: when it is measured, items of that size, as many as it takes
  // Names of implementations that have nothing of their own to do here; they are not measured.
  std::vector<std::string> without{};

  uint64_t items_of(uint64_t bytes) const {
    return item_bytes == 0 ? items : std::max<uint64_t>(bytes / item_bytes, 1);
  }
};

// Runs the prepared work once with one of the operation's implementations, by its index.
using Run = std::function<Status(size_t implementation)>;

struct Operation {
  std::string name;
  std::vector<Variant> variants;
  std::vector<Implementation> implementations;  // the plain one first: it is always right
  // Makes input of `shape` for measuring; files go into `directory`, which the caller removes.
  std::function<Result<Run>(size_t variant, const Shape& shape, const std::string& directory)>
      prepare;
  // Up to which it is measured where the plan's sizes end earlier: costs that do not grow with the
  // bytes cannot be told from small ones.
  uint64_t most_bytes = 0;
  // Its share of the time for several variants, relative to those that ask for 1: what only large
  // input tells apart takes more.
  double share_of_time = 1;
  // The power of the bytes with which its costs grow beyond what was measured.
  double growth = 1;
  // What `hoist explain` says of it besides, about who uses what is chosen; may be empty.
  std::string note;

  std::string full_name(size_t variant) const { return name + "/" + variants[variant].name; }
};

// A registered variant; what choose() takes. Lives as long as the process.
class VariantHandle {
 public:
  VariantHandle(const Operation& operation, size_t variant)
      : operation_(operation), variant_(variant) {}
  ~VariantHandle();

  const Operation& operation() const { return operation_; }
  size_t variant() const { return variant_; }
  std::string name() const { return operation_.full_name(variant_); }

 private:
  friend class DecisionTable;
  const Operation& operation_;
  size_t variant_;
  // By residency; built at the first choice, then fixed.
  mutable std::atomic<const DecisionTable*> tables_[2] = {};
};

// Operations by name. add() before threads start; the rest from any thread.
class Registry {
 public:
  static Registry& process();

  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // `invalid_argument` where the name is taken, a name has characters other than letters, digits
  // and "._+-", or no variant or implementation is given.
  Status add(Operation operation);

  const Operation* find(std::string_view name) const;              // null: unknown
  const VariantHandle* find_variant(std::string_view name) const;  // "sort/C"; null: unknown
  std::vector<const VariantHandle*> variants() const;              // all, as they were added

 private:
  struct Entry;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace hoist::placement
