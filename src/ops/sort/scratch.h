// Memory for a changed copy of a text, on the stack while the text is short.
#pragma once

#include <cstring>
#include <memory>

#include "ops/sort/line.h"

namespace hoist::sort {

class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // `size` uninitialised bytes, valid until the next call or the end of this object.
  char* reserve(size_t size) {
    if (size <= sizeof inline_) return inline_;
    heap_ = std::make_unique_for_overwrite<char[]>(size);
    return heap_.get();
  }

  // The text followed by a NUL, as the C library wants it.
  const char* terminated_copy(Line text) {
    char* const copy = reserve(text.length + 1);
    if (text.length != 0) std::memcpy(copy, text.text, text.length);
    copy[text.length] = '\0';
    return copy;
  }

 private:
  char inline_[512];
  std::unique_ptr<char[]> heap_;
};

}  // namespace hoist::sort
