// What placement decided about one run of a program that an engine stands in for
// (takeover/decisions.h), and how the engine says so.
//
//   const RunChoice choice = choose_run(takeover, "hash/sha256sum", input_size(files));
//   if (choice.original) return step_aside(takeover, "hash", choice.reason);
//   confirm_takeover(takeover, choice.reason);   // then use at most choice.threads, and a GPU
//                                                // where choice.on_gpu
//
// A hoistd that answers makes a GPU worth while earlier than one that the program opens itself:
// who can use either says whether there is one, by a function that is called only where it matters.
//
// The decisions are read anew at each call, once a run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "takeover/takeover.h"

namespace hoist {

struct RunChoice {
  bool original = false;   // never where the user asked for the engine by name
  bool on_gpu = false;     // with these threads for the rest
  bool opens_gpu = false;  // also one of the program's own, where no hoistd answers
  int threads = 1;         // at most usable_cpus()
  std::string reason;      // for the counters
};

// `name` is OPERATION/VARIANT; `bytes` of input, nothing where that is not known at the start.
RunChoice choose_run(const Takeover& takeover, const std::string& name,
                     std::optional<uint64_t> bytes, const std::function<bool()>& finds_hoistd = {});

// Bytes in these files, "-" standing for the rest of standard input. Nothing where one is missing
// or no regular file, or where there are so many that looking at each would cost more than it
// tells.
std::optional<uint64_t> input_size(std::span<const std::string> files);

}  // namespace hoist
