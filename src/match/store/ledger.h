// What an index has acknowledged, in a file of its own beside the store and the snapshot: only by
// it can a log that was cut or damaged at its end be told from one that was being written.
//
//   Result<std::unique_ptr<Ledger>> ledger = Ledger::create("INDEX/ledger", {.has_store = true});
//   (*ledger)->acknowledge(point);   // after the write to the log, before its caller hears of it
//   (*ledger)->flushed(point);       // after the log's fdatasync
//
// Order: first the log, then the ledger, then the acknowledgement. So the log has at least what the
// ledger names, whenever the process is killed, and after a power cut at least what it names as
// flushed, since the kernel may have written the ledger's page and not yet the log's. Which of the
// two holds is told by the kernel's boot id: in another boot, or where there is none to read, what
// was flushed counts. The ledger itself is synced by saved() and sync() only: after a power cut it
// may be as old as the kernel's write-back lets it be (30 s), and then it asks for less than was
// promised.
//
// The file has two slots, a page each and with a checksum, which are written in turn: one that is
// torn or damaged leaves the state before the last write. Cost: one pwrite() of 144 bytes a write.
//
// One writer at a time and any number of readers, of this process or others.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/file.h"
#include "match/store/chain.h"

namespace hoist::match {

struct LedgerState {
  bool has_store = false;
  ChainPoint acknowledged;
  ChainPoint flushed;
  uint64_t snapshot_generation = 0;  // the last one saved has at least this
  uint64_t boot = 0;                 // 0: unknown

  // What the store must have now.
  const ChainPoint& required() const;

  friend bool operator==(const LedgerState&, const LedgerState&) = default;
};

class Ledger {
 public:
  // Replaces nothing: `io` where there is one.
  static Result<std::unique_ptr<Ledger>> create(const std::string& path, LedgerState state);
  // `not_found`; `corrupt` where no slot is whole.
  static Result<std::unique_ptr<Ledger>> open(const std::string& path, bool read_only);

  LedgerState state() const;
  Status acknowledge(const ChainPoint& point);
  Status flushed(const ChainPoint& point);
  // Both durable when they return.
  Status saved(uint64_t snapshot_generation);
  Status sync();

  // What decode() reads from untrusted bytes of the file; `corrupt` as above.
  struct Slots {
    LedgerState state;
    uint64_t number = 0;
  };
  static Result<Slots> decode(std::string_view bytes);

 private:
  Ledger(std::string path, UniqueFd file, const Slots& slots)
      : path_(std::move(path)), file_(std::move(file)), slots_(slots) {}
  Status write();

  const std::string path_;
  const UniqueFd file_;
  mutable std::mutex mutex_;
  Slots slots_;
};

}  // namespace hoist::match
