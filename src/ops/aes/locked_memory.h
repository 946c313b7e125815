// Small cells of memory for keys: locked (never swapped), left out of core dumps, cleansed when
// they are given back. Where the limit on locked memory (RLIMIT_MEMLOCK) is used up, cells are not
// locked, as OpenSSL's own key schedules are not.
//
// May be used from any thread, and in a forked child, where cells are not locked: no lock on memory
// survives a fork.
#pragma once

#include <openssl/crypto.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <utility>

namespace hoist::aes {

// A cell of at least `size` bytes, at most kLargestCell, aligned to 64; null where there is no
// memory.
constexpr size_t kLargestCell = 1024;
void* take_locked_cell(size_t size);
// `size` as it was asked for.
void return_locked_cell(void* cell, size_t size);

// A raw key, or none.
class LockedKey {
 public:
  static constexpr size_t kCapacity = 64;  // AES-256-XTS

  LockedKey() = default;
  LockedKey(const LockedKey& other) { set(other.bytes()); }
  LockedKey& operator=(const LockedKey&) = delete;
  ~LockedKey() {
    if (cell_ != nullptr) return_locked_cell(cell_, kCapacity);
  }

  // Whether there was room.
  bool set(std::span<const uint8_t> key) {
    if (size_ > 0) OPENSSL_cleanse(cell_, std::exchange(size_, 0));
    if (key.size() > kCapacity) return false;
    if (cell_ == nullptr) cell_ = static_cast<uint8_t*>(take_locked_cell(kCapacity));
    if (cell_ == nullptr) return false;
    if (!key.empty()) std::memcpy(cell_, key.data(), key.size());
    size_ = key.size();
    return true;
  }
  bool empty() const { return size_ == 0; }
  std::span<const uint8_t> bytes() const { return {cell_, size_}; }

 private:
  uint8_t* cell_ = nullptr;
  size_t size_ = 0;
};

// A T that holds what follows from a key.
template <typename T>
class Locked {
 public:
  static_assert(sizeof(T) <= kLargestCell && alignof(T) <= 64);

  Locked() = default;
  Locked(Locked&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  Locked& operator=(Locked&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Locked() {
    if (value_ == nullptr) return;
    value_->~T();
    return_locked_cell(value_, sizeof(T));
  }

  // Null where there is no memory.
  template <typename... Args>
  static Locked make(Args&&... args) {
    Locked made;
    if (void* const cell = take_locked_cell(sizeof(T))) {
      made.value_ = new (cell) T(std::forward<Args>(args)...);
    }
    return made;
  }

  explicit operator bool() const { return value_ != nullptr; }
  T* operator->() const { return value_; }
  T& operator*() const { return *value_; }

 private:
  T* value_ = nullptr;
};

}  // namespace hoist::aes
