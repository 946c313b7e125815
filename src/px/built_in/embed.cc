#include "px/built_in/embed.h"

#include <fmt/core.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "ir/arithmetic.h"
#include "px/emit/cpp.h"
#include "px/emit/cuda.h"
#include "px/emit/names.h"

namespace hoist::px {
namespace {

using ir::Scalar;

// Empty: the kernels' callers have no such type.
std::string_view cpp_type(Scalar scalar) {
  constexpr std::string_view kTypes[] = {"bool",    "int8_t",   "int16_t",  "int32_t",  "int64_t",
                                         "uint8_t", "uint16_t", "uint32_t", "uint64_t", "",
                                         "",        "float",    "double"};
  return kTypes[static_cast<size_t>(scalar)];
}

Scalar scalar_of(const ir::Kernel::Argument& argument) {
  return argument.array ? argument.array->element : argument.scalar->type.scalar;
}

// "Status saxpy(const device::StreamView& stream, …)"
std::string head(const ir::Kernel& kernel) {
  std::string text = fmt::format("Status {}(const device::StreamView& stream, const ir::Grid& grid",
                                 identifier(kernel.name));
  for (const ir::Kernel::Argument& argument : kernel.arguments) {
    const std::string_view type = cpp_type(scalar_of(argument));
    if (!argument.array) {
      text += fmt::format(", {} {}", type, identifier(argument.name()));
      continue;
    }
    const bool is_const = argument.array->direction == ir::Direction::in;
    text += fmt::format(", std::span<{}{}> {}", is_const ? "const " : "", type,
                        identifier(argument.name()));
  }
  return text + ")";
}

std::string launcher(const ir::Kernel& kernel) {
  uint64_t arrays = 0;
  std::string list;
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    if (kernel.arguments[i].array) arrays |= uint64_t{1} << i;
    list += fmt::format("{}argument_of({})", i == 0 ? "" : ", ",
                        identifier(kernel.arguments[i].name()));
  }
  const std::string name = identifier(kernel.name);
  return fmt::format(
      "{} {{\n"
      "  static constinit const BuiltInKernel kernel(\"hoist_cuda_px_{}\", \"{}\", run_{}, "
      "{:#x});\n"
      "  const ir::Argument arguments[] = {{{}}};\n"
      "  return kernel.launch(stream, grid, arguments);\n"
      "}}\n",
      head(kernel), name, name, name, arrays, list);
}

// The most threads of the blocks that the file launches, as far as they are numbers; 0: of none.
uint64_t most_threads(const std::vector<HostStep>& steps) {
  uint64_t most = 0;
  for (const HostStep& step : steps) {
    if (const auto* loop = std::get_if<HostLoop>(&step.action)) {
      most = std::max(most, most_threads(loop->body));
    }
    const auto* launch = std::get_if<HostLaunch>(&step.action);
    if (launch == nullptr) continue;
    uint64_t threads = 1;
    for (const ir::Expression* extent : launch->threads) {
      if (extent != nullptr) threads *= extent->is_constant() ? extent->bits : 0;
    }
    most = std::max(most, threads);
  }
  return std::min<uint64_t>(most, ir::kMostThreads);
}

std::string cuda_entry(const ir::Kernel& kernel) {
  return fmt::format(
      "extern \"C\" int hoist_cuda_px_{}(int device, void* stream, const unsigned* sizes,\n"
      "                                  void** arguments) {{\n"
      "  return hoist::device::on_device(device, [&] {{\n"
      "    return cudaLaunchKernel(reinterpret_cast<const void*>(px::{}),\n"
      "                            dim3(sizes[0], sizes[1], sizes[2]),\n"
      "                            dim3(sizes[3], sizes[4], sizes[5]), arguments, 0,\n"
      "                            static_cast<cudaStream_t>(stream));\n"
      "  }});\n"
      "}}\n",
      identifier(kernel.name), cuda_entry_name(kernel));
}

Status check(const ir::Kernel& kernel) {
  if (kernel.arguments.size() > 64) {
    return fail(ErrorCode::unsupported, fmt::format("{} has over 64 parameters", kernel.name));
  }
  for (const ir::Kernel::Argument& argument : kernel.arguments) {
    if (cpp_type(scalar_of(argument)).empty()) {
      return fail(ErrorCode::unsupported,
                  fmt::format("{} of {} is {}: C++ has no such type", argument.name(), kernel.name,
                              ir::name(scalar_of(argument))));
    }
  }
  return {};
}

}  // namespace

Result<Embedded> embed(const Lowered& file, std::string_view header_path) {
  constexpr uint64_t kUsualThreads = 256;
  const ir::Module& module = file.module;
  const uint64_t threads = most_threads(file.host.steps);
  Embedded made;
  const std::string note = fmt::format("// Made from {}; do not edit.\n", module.file());
  made.header =
      note +
      "#pragma once\n\n#include <cstdint>\n#include <span>\n\n#include "
      "\"device/stream_view.h\"\n#include \"ir/launch.h\"\n\nnamespace hoist::px::kernels "
      "{\n\n";
  std::string launchers;
  std::string entries;
  for (const auto& kernel : module.kernels()) {
    if (Status fits = check(*kernel); !fits) return fits.error();
    made.header += head(*kernel) + ";\n";
    launchers += "\n" + launcher(*kernel);
    entries += "\n" + cuda_entry(*kernel);
  }
  made.header += "\n}  // namespace hoist::px::kernels\n";

  // What is compiled has its own `px::launch`, which the callers know as CpuLaunch.
  made.cpp = note + emit_cpp(module, false).text + "\n#include \"" + std::string(header_path) +
             "\"\n#include \"px/built_in/kernel.h\"\n\nnamespace hoist::px::kernels {\nnamespace "
             "{\n\n";
  for (const auto& kernel : module.kernels()) {
    made.cpp += fmt::format(
        "void run_{0}(const CpuLaunch* launch, unsigned long long begin, unsigned long long end) "
        "{{\n  ::{1}(reinterpret_cast<const ::px::launch*>(launch), begin, end);\n}}\n",
        identifier(kernel->name), cpp_entry_name(*kernel));
  }
  made.cpp += "\n}  // namespace\n" + launchers + "\n}  // namespace hoist::px::kernels\n";

  made.cuda = note +
              fmt::format("#define PX_MOST_THREADS {}\n\n#include <cuda_runtime.h>\n\n",
                          threads == 0 ? kUsualThreads : threads) +
              "#include \"device/on_device.h\"\n\n" + emit_cuda(module, false).text + entries;
  return made;
}

}  // namespace hoist::px
