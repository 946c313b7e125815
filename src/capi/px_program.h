// A text that was compiled: what its kernels take, and a program for each device that launches have
// used.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hoist/px.h"
#include "px/compile_text.h"
#include "px/lower/lower.h"
#include "px/program.h"

namespace hoist::capi {

// A program on one device, with a stream that waits for the next launch.
class PxBuilt {
 public:
  explicit PxBuilt(px::Program program) : program_(std::move(program)) {}
  ~PxBuilt() { delete idle_.load(); }
  PxBuilt(const PxBuilt&) = delete;
  PxBuilt& operator=(const PxBuilt&) = delete;

  const px::Program& program() const { return program_; }
  // Held while a fault may be found: it is the program's, and is to be its own launch's.
  std::mutex& turn() const { return turn_; }

  Result<std::unique_ptr<device::Stream>> take_stream() const;
  void give_back(std::unique_ptr<device::Stream> stream) const {
    delete idle_.exchange(stream.release());
  }

 private:
  const px::Program program_;
  mutable std::mutex turn_;
  mutable std::atomic<device::Stream*> idle_ = nullptr;
};

struct PxTarget {
  px::Target target = px::Target::automatic;
  int gpu = 0;
};
// "auto", "cpu", "cuda", "cuda:1", "interpreter"; null: auto.
Result<PxTarget> px_target_of(const char* text);

}  // namespace hoist::capi

struct hoist_px_program {
  struct Kernel {
    const hoist::ir::Kernel* kernel = nullptr;  // of `lowered`
    std::vector<hoist_px_parameter> parameters;
  };

  std::string name;
  std::string text;
  hoist::capi::PxTarget target;
  bool check_bounds = false;
  pid_t process = 0;
  hoist::px::Lowered lowered;
  std::vector<Kernel> kernels;

  // Built when it is first asked for.
  hoist::Result<const hoist::capi::PxBuilt*> on(hoist::device::Device& device) const;

 private:
  mutable std::mutex mutex_;
  mutable std::map<hoist::device::Device*, std::unique_ptr<hoist::capi::PxBuilt>> built_;

 public:
  explicit hoist_px_program(hoist::px::Lowered made) : lowered(std::move(made)) {}
};

struct hoist_px_messages {
  std::vector<hoist::px::Message> texts;
  std::vector<hoist_px_message> list;  // of `texts`
};
