// Executors and buffers.
#include "python/hologram/call.h"
#include "python/hologram/calls.h"

namespace hoist::python::hologram {
namespace {

namespace ffi = graph::ffi;

// What takes so long that others may run meanwhile: characters of JSON, bytes, elements.
constexpr size_t kShortText = 16384;
constexpr size_t kShortBytes = 262144;

template <typename Get>
auto fact(uint64_t buffer, const Get& get)
    -> Result<decltype(get(std::declval<ffi::BufferFacts&>()))> {
  const Result<ffi::BufferFacts> facts = ffi::buffer_facts(buffer);
  if (!facts) return facts.error();
  return get(*facts);
}

Result<bool> is_empty(uint64_t buffer) {
  return fact(buffer, [](const auto& it) { return it.length == 0; });
}
Result<bool> is_linear(uint64_t buffer) {
  return fact(buffer, [](const auto& it) { return !it.is_boundary; });
}
Result<bool> is_boundary(uint64_t buffer) {
  return fact(buffer, [](const auto& it) { return it.is_boundary; });
}
Result<std::string> pool(uint64_t buffer) {
  return fact(buffer,
              [](const auto& it) { return std::string(it.is_boundary ? "boundary" : "linear"); });
}
Result<uint32_t> element_size(uint64_t buffer) {
  return fact(buffer, [](const auto&) { return uint32_t{sizeof(float)}; });
}
Result<uint64_t> size_bytes(uint64_t buffer) {
  return fact(buffer, [](const auto& it) { return uint64_t{it.length} * sizeof(float); });
}
Result<uint32_t> class_index(uint64_t buffer) {
  return fact(buffer, [](const auto& it) { return uint32_t{it.class_index}; });
}

// Elements of the buffer; 0 where there is none.
size_t length_of(uint64_t buffer) { return ffi::buffer_length(buffer).value_or(0u); }

Result<uint64_t> allocate(uint64_t executor, uint32_t length) {
  return with_lock_if_short(length < kShortBytes,
                            [&](ffi::Lifetime) { return ffi::allocate_buffer(executor, length); });
}

Status copy_from_slice(uint64_t executor, uint64_t buffer, std::string_view json) {
  return with_lock_if_short(json.size() < kShortText, [&](ffi::Lifetime) {
    return ffi::copy_from_json(executor, buffer, json);
  });
}

Status copy_from_canonical_slice(uint64_t executor, uint64_t buffer, std::string_view json) {
  return with_lock_if_short(json.size() < kShortText, [&](ffi::Lifetime) {
    return ffi::copy_from_canonical_json(executor, buffer, json);
  });
}

Result<std::string> to_vec(uint64_t executor, uint64_t buffer) {
  return with_lock_if_short(length_of(buffer) < kShortText / 8,
                            [&](ffi::Lifetime) { return ffi::to_json(executor, buffer); });
}

Status copy_from_bytes(uint64_t executor, uint64_t buffer, Bytes& bytes) {
  const std::string_view given = bytes.get();
  return with_lock_if_short(given.size() < kShortBytes, [&](ffi::Lifetime) {
    return ffi::copy_from_bytes(executor, buffer, std::as_bytes(std::span(given)));
  });
}

Result<uint64_t> as_ptr(uint64_t executor, uint64_t buffer) {
  return ffi::address(executor, buffer, false);
}
Result<uint64_t> as_mut_ptr(uint64_t executor, uint64_t buffer) {
  return ffi::address(executor, buffer, true);
}

Status fill(uint64_t executor, uint64_t buffer, float value, uint32_t length) {
  return with_lock_if_short(length < kShortBytes, [&](ffi::Lifetime lifetime) {
    return ffi::fill(executor, buffer, value, length, lifetime);
  });
}

Status copy(uint64_t executor, uint64_t from, uint64_t to, uint32_t length) {
  return with_lock_if_short(length < kShortBytes, [&](ffi::Lifetime lifetime) {
    return ffi::copy(executor, from, to, length, lifetime);
  });
}

Status canonicalize(uint64_t executor, uint64_t buffer) {
  return with_lock_if_short(length_of(buffer) < kShortBytes,
                            [&](ffi::Lifetime) { return ffi::canonicalize(executor, buffer); });
}

Result<bool> verify_canonical(uint64_t executor, uint64_t buffer) {
  return with_lock_if_short(length_of(buffer) < kShortBytes,
                            [&](ffi::Lifetime) { return ffi::is_canonical(executor, buffer); });
}

std::string version() { return std::string(ffi::kVersion); }

constexpr const char* kBuffer = "buffer_handle";
constexpr const char* kBoth = "executor_handle buffer_handle";
constexpr const char* kJson = "executor_handle buffer_handle data_json";

#define HOIST_BUFFER "(buffer_handle)\n--\n\n"
#define HOIST_BOTH "(executor_handle, buffer_handle)\n--\n\n"
#define HOIST_JSON "(executor_handle, buffer_handle, data_json)\n--\n\n"

constexpr Call kNewExecutor{"new_executor", "", "new_executor()\n--\n\nAn executor on the CPU.",
                            ffi::new_executor};
constexpr Call kNewExecutorWithBackend{
    "new_executor_with_backend", "backend",
    "new_executor_with_backend(backend)\n--\n\nAn executor on \"cpu\"; 0 for other backends.",
    ffi::new_executor_with_backend};
constexpr Call kNewExecutorAuto{
    "new_executor_auto", "", "new_executor_auto()\n--\n\nAn executor on the best backend: the CPU.",
    ffi::new_executor};
constexpr Call kExecutorCleanup{
    "executor_cleanup", "executor_handle",
    "executor_cleanup(executor_handle)\n--\n\nDrops an executor; its buffers keep their memory.",
    ffi::executor_cleanup};
constexpr Call kAllocate{"executor_allocate_buffer", "executor_handle len",
                         "executor_allocate_buffer(executor_handle, len)\n--\n\n"
                         "A linear buffer of len zeros; takes the lowest free class of 96.",
                         allocate};
constexpr Call kAllocateBoundary{
    "executor_allocate_boundary_buffer", "executor_handle _class width height",
    "executor_allocate_boundary_buffer(executor_handle, _class, width, height)\n--\n\n"
    "The first width * height bytes of a class; buffers of one class share its memory.",
    ffi::allocate_boundary_buffer};
constexpr Call kLength{"buffer_length", kBuffer, "buffer_length" HOIST_BUFFER "Its elements.",
                       ffi::buffer_length};
constexpr Call kIsEmpty{"buffer_is_empty", kBuffer, "buffer_is_empty" HOIST_BUFFER "1 or 0.",
                        is_empty};
constexpr Call kIsLinear{"buffer_is_linear", kBuffer, "buffer_is_linear" HOIST_BUFFER "1 or 0.",
                         is_linear};
constexpr Call kIsBoundary{"buffer_is_boundary", kBuffer,
                           "buffer_is_boundary" HOIST_BUFFER "1 or 0.", is_boundary};
constexpr Call kPool{"buffer_pool", kBuffer,
                     "buffer_pool" HOIST_BUFFER "\"linear\" or \"boundary\".", pool};
constexpr Call kElementSize{"buffer_element_size", kBuffer,
                            "buffer_element_size" HOIST_BUFFER "4 bytes.", element_size};
constexpr Call kSizeBytes{"buffer_size_bytes", kBuffer,
                          "buffer_size_bytes" HOIST_BUFFER "Its bytes.", size_bytes};
constexpr Call kClassIndex{"buffer_class_index", kBuffer,
                           "buffer_class_index" HOIST_BUFFER "Its class, 0 to 95.", class_index};
constexpr Call kCopyFromSlice{"buffer_copy_from_slice", kJson,
                              "buffer_copy_from_slice" HOIST_JSON
                              "Takes its elements from a JSON array of as many numbers.",
                              copy_from_slice};
constexpr Call kToVec{"buffer_to_vec", kBoth,
                      "buffer_to_vec" HOIST_BOTH "Its elements as a JSON array.", to_vec};
constexpr Call kCopyToSlice{"buffer_copy_to_slice", kBoth,
                            "buffer_copy_to_slice" HOIST_BOTH "As buffer_to_vec().", to_vec};
constexpr Call kCopyFromBytes{"buffer_copy_from_bytes", "executor_handle buffer_handle data_bytes",
                              "buffer_copy_from_bytes(executor_handle, buffer_handle, data_bytes)"
                              "\n--\n\nTakes its elements from 4 bytes each, little-endian.",
                              copy_from_bytes};
constexpr Call kToBytes{"buffer_to_bytes", kBoth,
                        "buffer_to_bytes" HOIST_BOTH "Its bytes as a list of int.", ffi::to_bytes};
constexpr Call kAsPtr{"buffer_as_ptr", kBoth, "buffer_as_ptr" HOIST_BOTH "Its address.", as_ptr};
constexpr Call kAsMutPtr{"buffer_as_mut_ptr", kBoth,
                         "buffer_as_mut_ptr" HOIST_BOTH "Its address; 0 where it is read-only.",
                         as_mut_ptr};
constexpr Call kFill{"buffer_fill", "executor_handle buffer_handle value len",
                     "buffer_fill(executor_handle, buffer_handle, value, len)\n--\n\n"
                     "Sets the first len elements.",
                     fill};
constexpr Call kCopy{"buffer_copy", "executor_handle src_handle dst_handle len",
                     "buffer_copy(executor_handle, src_handle, dst_handle, len)\n--\n\n"
                     "Copies the first len elements.",
                     copy};
constexpr Call kCopyFromCanonical{"buffer_copy_from_canonical_slice", kJson,
                                  "buffer_copy_from_canonical_slice" HOIST_JSON
                                  "As buffer_copy_from_slice(), with the lowest bit of every byte "
                                  "cleared.",
                                  copy_from_canonical_slice};
constexpr Call kCanonicalizeAll{
    "buffer_canonicalize_all", kBoth,
    "buffer_canonicalize_all" HOIST_BOTH "Clears the lowest bit of every byte.", canonicalize};
constexpr Call kVerifyCanonical{"buffer_verify_canonical", kBoth,
                                "buffer_verify_canonical" HOIST_BOTH
                                "1 where the lowest bit of every byte is clear, else 0.",
                                verify_canonical};
constexpr Call kBufferCleanup{"buffer_cleanup", kBuffer,
                              "buffer_cleanup" HOIST_BUFFER
                              "Drops the handle, and the buffer unless a tensor or view has it.",
                              ffi::buffer_cleanup};
constexpr Call kGetVersion{"get_version", "", "get_version()\n--\n\n\"0.1.0\"", version};
constexpr Call kClearAll{"clear_all_registries", "",
                         "clear_all_registries()\n--\n\nMakes every handle invalid.",
                         ffi::clear_all_registries};

}  // namespace

PyMethodDef* buffer_methods() {
  static PyMethodDef methods[] = {method<kNewExecutor>(),
                                  method<kNewExecutorWithBackend>(),
                                  method<kNewExecutorAuto>(),
                                  method<kExecutorCleanup>(),
                                  method<kAllocate>(),
                                  method<kAllocateBoundary>(),
                                  method<kLength>(),
                                  method<kIsEmpty>(),
                                  method<kIsLinear>(),
                                  method<kIsBoundary>(),
                                  method<kPool>(),
                                  method<kElementSize>(),
                                  method<kSizeBytes>(),
                                  method<kClassIndex>(),
                                  method<kCopyFromSlice>(),
                                  method<kToVec>(),
                                  method<kCopyToSlice>(),
                                  method<kCopyFromBytes>(),
                                  method<kToBytes>(),
                                  method<kAsPtr>(),
                                  method<kAsMutPtr>(),
                                  method<kFill>(),
                                  method<kCopy>(),
                                  method<kCopyFromCanonical>(),
                                  method<kCanonicalizeAll>(),
                                  method<kVerifyCanonical>(),
                                  method<kBufferCleanup>(),
                                  method<kGetVersion>(),
                                  method<kClearAll>(),
                                  {}};
  return methods;
}

}  // namespace hoist::python::hologram
