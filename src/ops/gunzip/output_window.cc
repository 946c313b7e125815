#include "ops/gunzip/output_window.h"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>

namespace hoist::gunzip {

void OutputWindow::attach(ByteSink& sink) {
  if (sink_ != nullptr) keep_earlier_window();
  sink_ = &sink;
  buffer_ = sink.first_buffer();
  next = buffer_ + kWindow;
  limit = next + kCapacity;
  unwritten_ = next;
  start_member();
}

void OutputWindow::begin_member() {
  keep_earlier_window();
  start_member();
}

void OutputWindow::start_member() {
  history_begin_ = member_begin_ = unsummed_ = next;
  member_offset_ = 0;
  crc_ = libdeflate_crc32(0, nullptr, 0);
}

void OutputWindow::end_member() { update_crc(); }

void OutputWindow::keep_earlier_window() {
  const size_t kept = std::min(reach(), kWindow);
  if (kept == 0) return;
  uint8_t* const window = earlier_window();
  const size_t start = (member_size() - kept) % kWindow;
  const size_t until_wrap = std::min(kept, kWindow - start);
  std::memcpy(window + start, next - kept, until_wrap);
  std::memcpy(window, next - kept + until_wrap, kept - until_wrap);
}

bool OutputWindow::make_room() { return next < limit || flush_windows(); }

bool OutputWindow::flush_windows() { return pass_on(next - member_size() % kWindow); }

void OutputWindow::update_crc() {
  crc_ = libdeflate_crc32(crc_, unsummed_, static_cast<size_t>(next - unsummed_));
  unsummed_ = next;
}

bool OutputWindow::pass_on(const uint8_t* up_to) {
  if (up_to <= unwritten_) return true;
  update_crc();
  const uint64_t size = member_size();
  const size_t left = static_cast<size_t>(next - up_to);
  uint8_t* const fresh = sink_->submit(buffer_, unwritten_, up_to);
  if (fresh == nullptr) return false;
  // What matches may refer to goes along; what is not written yet is part of it.
  const size_t history = std::min(reach(), kWindow);
  std::memmove(fresh + kWindow - history, next - history, history);
  buffer_ = fresh;
  next = fresh + kWindow;
  limit = next + kCapacity;
  history_begin_ = next - history;
  member_begin_ = unsummed_ = next;
  member_offset_ = size;
  unwritten_ = next - left;
  return true;
}

uint8_t* OutputWindow::earlier_window() {
  if (!earlier_window_) earlier_window_.reset(new uint8_t[kWindow]());
  return earlier_window_.get();
}

void OutputWindow::copy_from_before(size_t distance, size_t length) {
  const uint8_t* const window = earlier_window();
  for (uint64_t offset = member_size(); length > 0; --length, ++offset, ++next) {
    *next = offset >= distance ? *(next - distance) : window[(offset - distance) % kWindow];
  }
}

}  // namespace hoist::gunzip
