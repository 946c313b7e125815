// Model files made for tests, fuzzers and benchmarks: each format's bytes, written the plain way.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "tensors/tensor.h"

namespace hoist::tensors {

struct TestTensor {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::string bytes;
};

inline TestTensor random_tensor(std::mt19937_64& random, std::string name, DType dtype,
                                Shape shape) {
  TestTensor tensor{std::move(name), dtype, std::move(shape), {}};
  tensor.bytes.resize(byte_count(dtype, tensor.shape).value());
  for (char& byte : tensor.bytes) byte = static_cast<char>(random());
  return tensor;
}

// Gaussian weights, as models have them.
inline TestTensor gaussian_tensor(std::mt19937_64& random, std::string name, DType dtype,
                                  Shape shape, float deviation = 0.02f) {
  TestTensor tensor{std::move(name), dtype, std::move(shape), {}};
  std::vector<float> values(element_count(tensor.shape).value());
  std::normal_distribution<float> gauss(0, deviation);
  for (float& value : values) value = gauss(random);
  tensor.bytes.resize(values.size() * properties(dtype).bytes);
  if (!from_f32(values, dtype, std::as_writable_bytes(std::span(tensor.bytes)))) std::abort();
  return tensor;
}

// `extra` goes in front of the first entry: "\"__metadata__\":{…},". `padding` spaces follow.
inline std::string safetensors_bytes(const std::vector<TestTensor>& tensors,
                                     const std::string& extra = {}, size_t padding = 0) {
  std::string header = "{" + extra;
  std::string data;
  for (const TestTensor& tensor : tensors) {
    header += fmt::format("\"{}\":{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}},",
                          tensor.name, properties(tensor.dtype).name, fmt::join(tensor.shape, ","),
                          data.size(), data.size() + tensor.bytes.size());
    data += tensor.bytes;
  }
  if (header.ends_with(',')) header.pop_back();
  header += "}" + std::string(padding, ' ');
  ByteWriter out;
  out.write<uint64_t>(header.size());
  return out.bytes() + header + data;
}

inline void append_gguf_text(ByteWriter& out, std::string_view text) {
  out.write<uint64_t>(text.size());
  out.append(text.data(), text.size());
}

struct TestGgmlTensor {
  std::string name;
  uint32_t type = 0;
  std::vector<uint64_t> dimensions;  // fastest first
  std::string bytes;
};

// Version 3 with a pair of each shape that a parser must pass over.
inline std::string gguf_bytes(const std::vector<TestGgmlTensor>& tensors, uint32_t alignment = 32) {
  ByteWriter out;
  out.append("GGUF", 4);
  out.write<uint32_t>(3);
  out.write<uint64_t>(tensors.size());
  out.write<uint64_t>(4);
  append_gguf_text(out, "general.alignment");
  out.write<uint32_t>(4);
  out.write<uint32_t>(alignment);
  append_gguf_text(out, "general.name");
  out.write<uint32_t>(8);
  append_gguf_text(out, "tiny");
  append_gguf_text(out, "tokens");
  out.write<uint32_t>(9);
  out.write<uint32_t>(8);
  out.write<uint64_t>(2);
  append_gguf_text(out, "a");
  append_gguf_text(out, "bc");
  append_gguf_text(out, "scores");
  out.write<uint32_t>(9);
  out.write<uint32_t>(6);
  out.write<uint64_t>(3);
  for (const float score : {1.0f, 2.0f, 3.0f}) out.write(score);
  std::string data;
  for (const TestGgmlTensor& tensor : tensors) {
    append_gguf_text(out, tensor.name);
    out.write<uint32_t>(static_cast<uint32_t>(tensor.dimensions.size()));
    for (const uint64_t dimension : tensor.dimensions) out.write(dimension);
    out.write<uint32_t>(tensor.type);
    out.write<uint64_t>(data.size());
    data += tensor.bytes;
    data.resize((data.size() + alignment - 1) / alignment * alignment);
  }
  std::string file = out.bytes();
  file.resize((file.size() + alignment - 1) / alignment * alignment);
  return file + data;
}

inline std::string npy_bytes(const std::string& descr, const Shape& shape,
                             const std::string& bytes) {
  std::string header = fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': ({}{}), }}",
                                   descr.starts_with('[') ? descr : "'" + descr + "'",
                                   fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  while ((header.size() + 11) % 64 != 0) header += ' ';
  header += '\n';
  ByteWriter out;
  out.append("\x93NUMPY\x01\x00", 8);
  out.write<uint16_t>(static_cast<uint16_t>(header.size()));
  return out.bytes() + header + bytes;
}

// Stored entries; CRCs are 0, as nobody here reads them.
inline std::string npz_bytes(const std::vector<std::pair<std::string, std::string>>& entries,
                             uint16_t method = 0) {
  ByteWriter directory;
  std::string file;
  for (const auto& entry : entries) {
    const std::string& name = entry.first;
    const std::string& bytes = entry.second;
    const auto common = [&](ByteWriter& out) {
      out.write<uint16_t>(20);
      out.write<uint16_t>(0);
      out.write(method);
      out.write<uint64_t>(0);  // time, date, CRC
      out.write<uint32_t>(static_cast<uint32_t>(bytes.size()));
      out.write<uint32_t>(static_cast<uint32_t>(bytes.size()));
      out.write<uint16_t>(static_cast<uint16_t>(name.size()));
    };
    directory.append("PK\x01\x02\x14\x00", 6);
    common(directory);
    directory.write<uint16_t>(0);
    directory.write<uint16_t>(0);
    directory.write<uint64_t>(0);
    directory.write<uint32_t>(static_cast<uint32_t>(file.size()));
    directory.append(name.data(), name.size());
    ByteWriter local;
    local.append("PK\x03\x04", 4);
    common(local);
    local.write<uint16_t>(4);  // an extra field that means nothing
    local.append(name.data(), name.size());
    local.write<uint32_t>(0x00007777);
    file += local.bytes() + bytes;
  }
  ByteWriter end;
  end.append("PK\x05\x06\0\0\0\0", 8);
  end.write<uint16_t>(static_cast<uint16_t>(entries.size()));
  end.write<uint16_t>(static_cast<uint16_t>(entries.size()));
  end.write<uint32_t>(static_cast<uint32_t>(directory.bytes().size()));
  end.write<uint32_t>(static_cast<uint32_t>(file.size()));
  end.write<uint16_t>(0);
  return file + directory.bytes() + end.bytes();
}

}  // namespace hoist::tensors
