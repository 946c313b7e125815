// Programs on a GPU for tests, and their arrays there.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "graph/gpu/gpu_program.h"
#include "graph/kernels/testing.h"
#include "graph/program/move.h"

namespace hoist::graph::gpu {

using device::Buffer;
using device::Device;
using device::Stream;
using kernels::NodeCheck;
using program::DType;
using program::Extents;
using program::Graph;
using program::Node;
using program::Op;
using program::RandomValues;
using program::Values;

class GpuProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    const Result<Device*> found = device::cuda_device();
    if (!found) GTEST_SKIP() << found.error().message;
    device_ = *found;
  }
  Device& device() const { return *device_; }

  static std::vector<std::byte> bytes_of(const Node& node, const Values& values) {
    std::vector<std::byte> bytes(values.size() * program::bytes_of(node.dtype));
    program::narrow(node.dtype, values.bytes(), values.size(), bytes.data());
    return bytes;
  }

  // With `shift` bytes before each array.
  std::vector<Buffer> uploaded(const Graph& graph, const std::vector<Values>& inputs,
                               size_t shift = 0) {
    std::vector<Buffer> buffers;
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::vector<std::byte> bytes(shift);
      const std::vector<std::byte> own = bytes_of(graph[graph.inputs()[i]], inputs[i]);
      bytes.insert(bytes.end(), own.begin(), own.end());
      bytes.push_back({});
      buffers.push_back(Buffer::copy_of(device(), bytes).value());
    }
    return buffers;
  }

  static Values downloaded(const Node& node, const Buffer& buffer, size_t shift = 0) {
    Values values(program::lanes_of(node.dtype), static_cast<size_t>(node.elements()));
    std::vector<std::byte> bytes(values.size() * program::bytes_of(node.dtype));
    const Status got = buffer.download(bytes, shift);
    EXPECT_TRUE(got) << (got ? "" : got.error().message);
    program::widen(node.dtype, bytes.data(), values.size(), values.bytes());
    return values;
  }

  std::vector<Values> run(GpuProgram& program, const Graph& graph,
                          const std::vector<Values>& inputs, size_t shift = 0) {
    const std::vector<Buffer> from = uploaded(graph, inputs, shift);
    std::vector<Buffer> to;
    std::vector<const void*> sources;
    std::vector<void*> places;
    for (const Buffer& buffer : from) {
      sources.push_back(static_cast<std::byte*>(buffer.data()) + shift);
    }
    for (const program::Id id : graph.outputs()) {
      const auto elements = static_cast<size_t>(graph[id].elements());
      to.push_back(Buffer::allocate(device(), elements * sizeof(double) + shift + 1).value());
      EXPECT_TRUE(to.back().fill(std::byte{0xa5}));
      places.push_back(static_cast<std::byte*>(to.back().data()) + shift);
    }
    Stream stream = Stream::create(device()).value();
    const Status done = program.run(stream.handle(), sources, places);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    EXPECT_TRUE(stream.synchronize());
    std::vector<Values> results;
    for (size_t i = 0; i < to.size(); ++i) {
      results.push_back(downloaded(graph[graph.outputs()[i]], to[i], shift));
    }
    return results;
  }

  static std::vector<Values> random_inputs(const Graph& graph, RandomValues& random,
                                           bool with_special) {
    std::vector<Values> inputs;
    for (const program::Id id : graph.inputs()) {
      inputs.push_back(random.values(graph[id], with_special));
    }
    return inputs;
  }

  void check_nodes(const Graph& of, RandomValues& random, bool with_special, size_t shift = 0) {
    const Graph graph = kernels::with_all_outputs(of);
    const program::Fused fused = program::fuse(graph, true, false);
    const auto program = GpuProgram::compile(graph, device());
    ASSERT_TRUE(program) << program.error().message;
    NodeCheck check(graph, fused);
    check.check(random_inputs(graph, random, with_special), [&](const std::vector<Values>& inputs) {
      return run(**program, graph, inputs, shift);
    });
  }

 private:
  Device* device_ = nullptr;
};

}  // namespace hoist::graph::gpu
