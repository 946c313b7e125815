// The longest match inside any window of two sequences, exactly as find_longest_match() of Python's
// difflib.SequenceMatcher (CPython 3.9 to 3.13) finds it, with its popular elements and its junk,
// and the matching blocks that follow from it. BlockMatcher (match/score/blocks.h) is faster for
// whole sequences without junk.
//
// Among the longest runs of plain elements the one that starts first in `a` is taken, among those
// the one that starts first in `b`. It is then extended on both sides over equal elements that are
// no junk (which popular ones may be), and after that over equal junk.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "match/score/blocks.h"

namespace hoist::match {

class WindowMatcher {
 public:
  enum class Role : uint8_t { plain, popular, junk };
  // Memory that calls reuse.
  struct Scratch {
    std::vector<BlockMatcher::Run> runs;
  };

  // `roles` has one for each position of b, the same wherever an element is. Both must outlive it.
  WindowMatcher(std::span<const uint32_t> b, std::span<const Role> roles);

  // Size 0 at the window's begin where nothing matches. The window lies inside both. Once
  // `stop` is requested, it returns soon, with any block.
  Block longest(std::span<const uint32_t> a, const BlockMatcher::Window& window, Scratch& scratch,
                const std::stop_token& stop = {}) const;

  // All blocks, ascending; those that touch are one. Replaces `blocks`. False where it was
  // cancelled, with `blocks` undefined.
  bool find(std::span<const uint32_t> a, std::vector<Block>& blocks, Scratch& scratch,
            const std::stop_token& stop = {}) const;

 private:
  std::span<const uint32_t> positions(uint32_t symbol) const;
  void extend(std::span<const uint32_t> a, const BlockMatcher::Window& window, bool junk,
              Block& block) const;

  std::span<const uint32_t> b_;
  std::span<const Role> roles_;
  SymbolMap symbols_;
  std::vector<uint32_t> begins_;     // by symbol number
  std::vector<uint32_t> positions_;  // of plain elements, ascending for each
};

}  // namespace hoist::match
