#include <cstring>

#include "capi/hologram/answer.h"
#include "graph/ffi/session.h"

using namespace hoist::capi::hologram;
using hoist::Result;
using hoist::Status;
namespace ffi = hoist::graph::ffi;

namespace {

constexpr ffi::Lifetime kPinned = ffi::Lifetime::pinned;

// get(facts) of a buffer.
template <typename T, typename Get>
T fact(uint64_t buffer, const Get& get) {
  return give<T>([&]() -> Result<T> {
    const Result<ffi::BufferFacts> facts = ffi::buffer_facts(buffer);
    if (!facts) return facts.error();
    return static_cast<T>(get(*facts));
  });
}

}  // namespace

extern "C" {

const char* hologram_get_version(void) { return ffi::kVersion.data(); }

void hologram_clear_all_registries(void) { dropped(ffi::clear_all_registries); }

uint64_t hologram_new_executor(void) { return give<uint64_t>(ffi::new_executor); }

uint64_t hologram_new_executor_with_backend(const char* backend) {
  return give<uint64_t>([&]() -> Result<uint64_t> {
    if (backend == nullptr) return null_text("backend");
    return ffi::new_executor_with_backend(backend);
  });
}

uint64_t hologram_new_executor_auto(void) { return hologram_new_executor(); }

void hologram_executor_cleanup(uint64_t executor) {
  dropped([&] { ffi::executor_cleanup(executor); });
}

uint64_t hologram_executor_allocate_buffer(uint64_t executor, uint32_t len) {
  return give<uint64_t>([&] { return ffi::allocate_buffer(executor, len); });
}

uint64_t hologram_executor_allocate_boundary_buffer(uint64_t executor, uint8_t class_index,
                                                    uint32_t width, uint32_t height) {
  return give<uint64_t>(
      [&] { return ffi::allocate_boundary_buffer(executor, class_index, width, height); });
}

uint32_t hologram_buffer_length(uint64_t buffer) {
  return give<uint32_t>([&] { return ffi::buffer_length(buffer); });
}

uint8_t hologram_buffer_is_empty(uint64_t buffer) {
  return fact<uint8_t>(buffer, [](const auto& it) { return it.length == 0; });
}

uint8_t hologram_buffer_is_linear(uint64_t buffer) {
  return fact<uint8_t>(buffer, [](const auto& it) { return !it.is_boundary; });
}

uint8_t hologram_buffer_is_boundary(uint64_t buffer) {
  return fact<uint8_t>(buffer, [](const auto& it) { return it.is_boundary; });
}

const char* hologram_buffer_pool(uint64_t buffer) {
  return fact<const char*>(buffer,
                           [](const auto& it) { return it.is_boundary ? "boundary" : "linear"; });
}

uint32_t hologram_buffer_element_size(uint64_t buffer) {
  return fact<uint32_t>(buffer, [](const auto&) { return sizeof(float); });
}

uint64_t hologram_buffer_size_bytes(uint64_t buffer) {
  return fact<uint64_t>(buffer, [](const auto& it) { return it.length * sizeof(float); });
}

uint8_t hologram_buffer_class_index(uint64_t buffer) {
  return fact<uint8_t>(buffer, [](const auto& it) { return it.class_index; });
}

float* hologram_buffer_data(uint64_t executor, uint64_t buffer) {
  return reinterpret_cast<float*>(hologram_buffer_as_mut_ptr(executor, buffer));
}

uint64_t hologram_buffer_as_ptr(uint64_t executor, uint64_t buffer) {
  return give<uint64_t>([&] { return ffi::address(executor, buffer, false); });
}

uint64_t hologram_buffer_as_mut_ptr(uint64_t executor, uint64_t buffer) {
  return give<uint64_t>([&] { return ffi::address(executor, buffer, true); });
}

hologram_status hologram_buffer_copy_from_slice(uint64_t executor, uint64_t buffer,
                                                const char* data_json) {
  return done([&]() -> Status {
    if (data_json == nullptr) return null_text("data_json");
    return ffi::copy_from_json(executor, buffer, data_json);
  });
}

hologram_status hologram_buffer_copy_from_canonical_slice(uint64_t executor, uint64_t buffer,
                                                          const char* data_json) {
  return done([&]() -> Status {
    if (data_json == nullptr) return null_text("data_json");
    return ffi::copy_from_canonical_json(executor, buffer, data_json);
  });
}

char* hologram_buffer_to_vec(uint64_t executor, uint64_t buffer) {
  return give_text([&] { return ffi::to_json(executor, buffer); });
}

char* hologram_buffer_copy_to_slice(uint64_t executor, uint64_t buffer) {
  return hologram_buffer_to_vec(executor, buffer);
}

hologram_status hologram_buffer_copy_from_bytes(uint64_t executor, uint64_t buffer,
                                                const uint8_t* bytes, size_t count) {
  return done([&]() -> Status {
    if (bytes == nullptr && count != 0) return null_text("bytes");
    return ffi::copy_from_bytes(executor, buffer, std::as_bytes(std::span(bytes, count)));
  });
}

hologram_status hologram_buffer_to_bytes(uint64_t executor, uint64_t buffer, uint8_t* bytes,
                                         size_t count) {
  return done([&]() -> Status {
    if (bytes == nullptr && count != 0) return null_text("bytes");
    const Result<std::vector<std::byte>> own = ffi::to_bytes(executor, buffer);
    if (!own) return own.error();
    if (own->size() != count) {
      return hoist::fail(hoist::ErrorCode::invalid_argument,
                         "Data size mismatch: expected " + std::to_string(own->size()) +
                             " bytes, got " + std::to_string(count));
    }
    if (count != 0) std::memcpy(bytes, own->data(), count);
    return {};
  });
}

hologram_status hologram_buffer_fill(uint64_t executor, uint64_t buffer, float value,
                                     uint32_t len) {
  return done([&] { return ffi::fill(executor, buffer, value, len, kPinned); });
}

hologram_status hologram_buffer_copy(uint64_t executor, uint64_t from, uint64_t to, uint32_t len) {
  return done([&] { return ffi::copy(executor, from, to, len, kPinned); });
}

hologram_status hologram_buffer_canonicalize_all(uint64_t executor, uint64_t buffer) {
  return done([&] { return ffi::canonicalize(executor, buffer); });
}

uint8_t hologram_buffer_verify_canonical(uint64_t executor, uint64_t buffer) {
  return give<uint8_t>([&] { return ffi::is_canonical(executor, buffer); });
}

void hologram_buffer_cleanup(uint64_t buffer) {
  dropped([&] { ffi::buffer_cleanup(buffer); });
}
}
