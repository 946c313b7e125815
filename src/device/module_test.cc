// Code in memory: what is refused without a GPU, and small kernels in PTX with one.
#include "device/module.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fork_testing.h"
#include "device/buffer.h"

namespace hoist::device {
namespace {

// scale: multiplies `count` words by `factor`. reverse: turns a block's words round, in shared
// memory.
constexpr std::string_view kPtx = R"(
.version 7.0
.target sm_75
.address_size 64

.visible .entry scale(.param .u64 data, .param .u32 count, .param .u32 factor) {
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [data];
  ld.param.u32 %r0, [count];
  ld.param.u32 %r1, [factor];
  cvta.to.global.u64 %rd0, %rd0;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r0;
  @%p ret;
  mul.wide.u32 %rd1, %r5, 4;
  add.u64 %rd2, %rd0, %rd1;
  ld.global.u32 %r6, [%rd2];
  mul.lo.u32 %r6, %r6, %r1;
  st.global.u32 [%rd2], %r6;
  ret;
}

.extern .shared .align 4 .b8 words[];
.visible .entry reverse(.param .u64 data) {
  .reg .b32 %r<8>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd0, [data];
  cvta.to.global.u64 %rd0, %rd0;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ntid.x;
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd2, %rd0, %rd1;
  ld.global.u32 %r2, [%rd2];
  sub.u32 %r3, %r1, 1;
  sub.u32 %r3, %r3, %r0;
  mov.u32 %r4, words;
  mad.lo.u32 %r5, %r3, 4, %r4;
  st.shared.u32 [%r5], %r2;
  bar.sync 0;
  mad.lo.u32 %r5, %r0, 4, %r4;
  ld.shared.u32 %r2, [%r5];
  st.global.u32 [%rd2], %r2;
  ret;
}
)";

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(Module, OnlyCudaDevicesLoadCode) {
  const Result<Module> loaded = Module::load(cpu_device(), bytes_of(kPtx));
  EXPECT_EQ(loaded.error().code, ErrorCode::unsupported);
  EXPECT_EQ(loaded.error().message, "load kernels: cpu is no CUDA device");
}

// On a device that refuses all code: before it is asked.
ErrorCode refusal(std::string_view code) {
  return Module::load(cpu_device(), bytes_of(code)).error().code;
}

TEST(Module, WhatIsNoCodeIsKnownWithoutADevice) {
  EXPECT_EQ(refusal(""), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(std::string(10, '\0')), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal("no code at all"), ErrorCode::invalid_argument);
  std::string torn(kPtx);
  torn[40] = '\0';
  EXPECT_EQ(refusal(torn), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal("\177ELF"), ErrorCode::invalid_argument);
  std::string cut(1000, '\377');
  cut.replace(0, 4, "\177ELF");
  EXPECT_EQ(refusal(cut), ErrorCode::invalid_argument);
}

TEST(Module, ACubinIsWholeUpToItsTables) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = sizeof header;
  header.e_shnum = 2;
  header.e_shentsize = sizeof(Elf64_Shdr);
  std::string cubin(sizeof header + 2 * sizeof(Elf64_Shdr), '\0');
  std::memcpy(cubin.data(), &header, sizeof header);
  EXPECT_EQ(refusal(cubin), ErrorCode::unsupported);
  cubin.pop_back();
  EXPECT_EQ(refusal(cubin), ErrorCode::invalid_argument);
  header.e_shoff = UINT64_MAX;
  std::memcpy(cubin.data(), &header, sizeof header);
  EXPECT_EQ(refusal(cubin), ErrorCode::invalid_argument);
}

class ModuleGpu : public testing::Test {
 protected:
  void SetUp() override {
    const Result<Device*> found = cuda_device();
    if (!found) GTEST_SKIP() << found.error().message;
    device_ = *found;
    stream_.emplace(Stream::create(*device_).value());
  }

  std::vector<uint32_t> words_of(const Buffer& buffer) {
    std::vector<uint32_t> words(buffer.size() / sizeof(uint32_t));
    EXPECT_TRUE(buffer.download(std::as_writable_bytes(std::span(words))));
    return words;
  }

  Device* device_ = nullptr;
  std::optional<Stream> stream_;
};

std::vector<uint32_t> counted(size_t count) {
  std::vector<uint32_t> words(count);
  std::iota(words.begin(), words.end(), 1U);
  return words;
}

Status scale(const ModuleKernel& kernel, const Stream& stream, const Buffer& buffer,
             uint32_t factor) {
  void* data = buffer.data();
  auto count = static_cast<uint32_t>(buffer.size() / sizeof(uint32_t));
  void* arguments[] = {&data, &count, &factor};
  return kernel.launch(stream, {.blocks = {(count + 127) / 128}, .threads = {128}}, arguments);
}

TEST_F(ModuleGpu, PtxIsAssembledAndLaunched) {
  std::vector<uint32_t> words = counted(1000);
  const Buffer buffer = Buffer::copy_of(*device_, std::as_bytes(std::span(words))).value();
  const std::string ended = std::string(kPtx) + '\0';
  const Result<Module> module = Module::load(*device_, bytes_of(ended));
  ASSERT_TRUE(module) << module.error().message;
  const Result<ModuleKernel> kernel = module->kernel("scale");
  ASSERT_TRUE(kernel) << kernel.error().message;
  const Status launched = scale(*kernel, *stream_, buffer, 7);
  ASSERT_TRUE(launched) << launched.error().message;
  ASSERT_TRUE(stream_->synchronize());
  for (uint32_t& word : words) word *= 7;
  EXPECT_EQ(words_of(buffer), words);
}

TEST_F(ModuleGpu, ABlockMayHaveAllOfTheSharedMemory) {
  std::vector<uint32_t> words = counted(1024);
  const Buffer buffer = Buffer::copy_of(*device_, std::as_bytes(std::span(words))).value();
  const Module module = Module::load(*device_, bytes_of(kPtx)).value();
  const ModuleKernel kernel = module.kernel("reverse").value();
  void* data = buffer.data();
  void* arguments[] = {&data};
  for (const uint32_t shared : {uint32_t{4096}, uint32_t{64} << 10}) {
    const Status launched =
        kernel.launch(*stream_, {.threads = {1024}, .shared_bytes = shared}, arguments);
    ASSERT_TRUE(launched) << launched.error().message;
    ASSERT_TRUE(stream_->synchronize());
    std::reverse(words.begin(), words.end());
    EXPECT_EQ(words_of(buffer), words);
  }
  const Status refused =
      kernel.launch(*stream_, {.threads = {1024}, .shared_bytes = 1U << 30}, arguments);
  EXPECT_FALSE(refused);
  EXPECT_TRUE(stream_->synchronize());
}

TEST_F(ModuleGpu, AKernelKeepsItsCode) {
  const std::vector<uint32_t> words = counted(100);
  const Buffer buffer = Buffer::copy_of(*device_, std::as_bytes(std::span(words))).value();
  for (int round = 0; round < 20; ++round) {
    auto kernel = std::make_unique<ModuleKernel>(
        Module::load(*device_, bytes_of(kPtx)).value().kernel("scale").value());
    ASSERT_TRUE(scale(*kernel, *stream_, buffer, 1));
    kernel.reset();  // unloads, behind the work
  }
  ASSERT_TRUE(stream_->synchronize());
  EXPECT_EQ(words_of(buffer), words);
}

TEST_F(ModuleGpu, TheAssemblersReasonIsGiven) {
  std::string broken(kPtx);
  broken.replace(broken.find("mul.lo.u32 %r6"), 14, "mul.no.u32 %r6");
  const Result<Module> loaded = Module::load(*device_, bytes_of(broken));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(loaded.error().message.find("line"), std::string::npos) << loaded.error().message;
}

TEST_F(ModuleGpu, AMissingKernelIsNamed) {
  const Module module = Module::load(*device_, bytes_of(kPtx)).value();
  const Result<ModuleKernel> kernel = module.kernel("shrink");
  EXPECT_EQ(kernel.error().code, ErrorCode::not_found);
  EXPECT_EQ(kernel.error().message, "the code has no kernel shrink");
}

TEST_F(ModuleGpu, AnotherDevicesStreamIsRefused) {
  const Module module = Module::load(*device_, bytes_of(kPtx)).value();
  const Stream other = Stream::create(cpu_device()).value();
  const Buffer buffer = Buffer::allocate(*device_, 4).value();
  EXPECT_EQ(scale(module.kernel("scale").value(), other, buffer, 1).error().code,
            ErrorCode::invalid_argument);
}

TEST_F(ModuleGpu, AChildLeavesItToItsParent) {
  const std::vector<uint32_t> words = counted(10);
  const Buffer buffer = Buffer::copy_of(*device_, std::as_bytes(std::span(words))).value();
  auto module = std::make_unique<Module>(Module::load(*device_, bytes_of(kPtx)).value());
  auto kernel = std::make_unique<ModuleKernel>(module->kernel("scale").value());
  EXPECT_TRUE(in_child([&] {
    const Status launched = scale(*kernel, *stream_, buffer, 2);
    const Result<Module> loaded = Module::load(*device_, bytes_of(kPtx));
    const bool is_refused = !launched && launched.error().code == ErrorCode::unavailable &&
                            !loaded && loaded.error().code == ErrorCode::unavailable;
    kernel.reset();
    module.reset();
    return is_refused;
  }));
  EXPECT_TRUE(scale(*kernel, *stream_, buffer, 1));
  EXPECT_TRUE(stream_->synchronize());
}

}  // namespace
}  // namespace hoist::device
