#include "px/emit/standalone.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "ir/arithmetic.h"
#include "px/emit/cpp.h"
#include "px/emit/cuda.h"
#include "px/emit/names.h"

namespace hoist::px {
namespace {

using ir::Expression;
using ir::Scalar;
using Kind = Expression::Kind;

// The types of C; 16-bit floats are their bits, bool is a byte.
std::string_view c_type(Scalar scalar) {
  constexpr std::string_view kTypes[] = {"uint8_t",  "int8_t",   "int16_t",  "int32_t",  "int64_t",
                                         "uint8_t",  "uint16_t", "uint32_t", "uint64_t", "uint16_t",
                                         "uint16_t", "float",    "double"};
  return kTypes[static_cast<size_t>(scalar)];
}

void append(std::string& list, const std::string& item) {
  if (!list.empty()) list += ", ";
  list += item;
}

// Names behind v_, so that none is a word of C.
class Launcher {
 public:
  Launcher(const ir::Module& module, const ir::Kernel& kernel, std::string_view file)
      : module_(module),
        kernel_(kernel),
        names_(module, kernel),
        name_(fmt::format("{}_{}", identifier(file), identifier(kernel.name))) {}

  // "int NAME(…, extra)"
  std::string head(std::string_view suffix, std::string_view extra) const {
    std::string list;
    for (const ir::Kernel::Argument& argument : kernel_.arguments) {
      if (argument.array) {
        const std::string& name = names_.of(argument.array);
        const bool is_const = argument.array->direction == ir::Direction::in;
        append(list, fmt::format("{}{}* {}, size_t {}_length", is_const ? "const " : "",
                                 c_type(argument.array->element), name, name));
      } else {
        append(list, fmt::format("{} {}", c_type(argument.scalar->type.scalar),
                                 names_.of(argument.scalar)));
      }
    }
    if (!extra.empty()) append(list, std::string(extra));
    return fmt::format("int {}_{}({})", name_, suffix, list.empty() ? "void" : list);
  }

  // A call of the function that takes the grid.
  std::string call(std::string_view suffix, std::string_view extra) const {
    std::string list;
    for (const ir::Kernel::Argument& argument : kernel_.arguments) {
      if (argument.array)
        append(list, fmt::format("{0}, {0}_length", names_.of(argument.array)));
      else
        append(list, names_.of(argument.scalar));
    }
    append(list, "blocks, threads");
    if (!extra.empty()) append(list, std::string(extra));
    return fmt::format("{}_{}({})", name_, suffix, list);
  }

  // Declares `blocks` and `threads`.
  std::string grid() const {
    for (const ir::Launch& launch : module_.launches()) {
      if (launch.kernel != &kernel_) continue;
      const auto blocks = extents(launch.blocks);
      const auto threads = extents(launch.threads);
      if (blocks && threads) {
        return fmt::format(
            "  const long long blocks[3] = {{{}}};\n  const long long threads[3] = {{{}}};\n",
            *blocks, *threads);
      }
    }
    return fmt::format(
        "{}  const long long blocks[3] = {{(longest + 255) / 256, 1, 1}};\n"
        "  const long long threads[3] = {{256, 1, 1}};\n",
        longest());
  }

  const ir::Kernel& kernel() const { return kernel_; }
  const std::string& of(const void* thing) const { return names_.of(thing); }

 private:
  // The longest array that is written; where none is, of all.
  std::string longest() const {
    const bool writes = std::ranges::any_of(kernel_.arguments, [](const auto& argument) {
      return argument.array && argument.array->direction != ir::Direction::in;
    });
    std::string text = "  long long longest = 0;\n";
    for (const ir::Kernel::Argument& argument : kernel_.arguments) {
      if (!argument.array || (writes && argument.array->direction == ir::Direction::in)) continue;
      text +=
          fmt::format("  if (longest < (long long){0}_length) longest = (long long){0}_length;\n",
                      names_.of(argument.array));
    }
    return text;
  }

  // As C computes it in 64 bits; none: the arguments do not decide it, or not by these means.
  std::optional<std::string> extent(const Expression& e) const {
    std::vector<std::string> parts;
    for (const Expression* operand : e.operands) {
      const auto part = extent(*operand);
      if (!part) return std::nullopt;
      parts.push_back(*part);
    }
    switch (e.kind) {
      case Kind::constant:
        return fmt::format("{}ll", ir::integer_of(e.type.scalar, e.bits));
      case Kind::parameter:
        return fmt::format("(long long){}", names_.of(e.parameter));
      case Kind::length:
        return fmt::format("(long long){}_length", names_.of(e.array));
      case Kind::cast:
        if (!ir::is_integer(e.operands[0]->type.scalar)) return std::nullopt;
        return parts[0];
      case Kind::binary:
        break;
      default:
        return std::nullopt;
    }
    const bool divides = e.binary_operator() == ir::BinaryOperator::divide &&
                         e.operands[1]->is_constant() && e.operands[1]->bits != 0;
    if (e.binary_operator() > ir::BinaryOperator::multiply && !divides) return std::nullopt;
    return fmt::format("({} {} {})", parts[0], ir::name(e.binary_operator()), parts[1]);
  }

  std::optional<std::string> extents(const std::array<const Expression*, 3>& list) const {
    std::string text;
    for (const Expression* each : list) {
      const auto part = each ? extent(*each) : std::optional<std::string>("1");
      if (!part) return std::nullopt;
      append(text, *part);
    }
    return text;
  }

  const ir::Module& module_;
  const ir::Kernel& kernel_;
  const Names names_;
  const std::string name_;
};

constexpr const char* kGridParameters = "const long long blocks[3], const long long threads[3]";

constexpr const char* kGridCheck = R"(
// Whether there can be such a grid.
static int is_grid(const long long* blocks, const long long* threads) {
  long long size = 1;
  for (int d = 0; d < 3; ++d) {
    if (blocks[d] < 0 || threads[d] < 1 || threads[d] > 1024 || blocks[d] > 2147483647 ||
        blocks[d] * threads[d] > 2147483647) {
      return 0;
    }
    size *= threads[d];
  }
  return size <= 1024;
}
)";

constexpr const char* kCpuLaunch = R"(
using kernel_function = void(const px::launch*, unsigned long long, unsigned long long);

// All blocks, on all cores where there is work for them.
static int launch_on_cpu(kernel_function* kernel, const px::launch& launch) {
  const unsigned long long blocks =
      1ull * launch.blocks[0] * launch.blocks[1] * launch.blocks[2];
  const unsigned long long threads =
      blocks * launch.threads[0] * launch.threads[1] * launch.threads[2];
  unsigned long long parts = threads / 65536;
  const unsigned long long cores = std::thread::hardware_concurrency();
  if (parts > cores) parts = cores;
  if (parts > blocks) parts = blocks;
  if (parts <= 1) {
    kernel(&launch, 0, blocks);
    return 0;
  }
  std::vector<std::thread> others;
  for (unsigned long long part = 1; part < parts; ++part) {
    others.emplace_back(kernel, &launch, blocks * part / parts, blocks * (part + 1) / parts);
  }
  kernel(&launch, 0, blocks / parts);
  for (std::thread& other : others) other.join();
  return 0;
}
)";

std::string cpu_launcher(const Launcher& launcher) {
  std::string arrays, lengths, scalars;
  for (const ir::Kernel::Argument& argument : launcher.kernel().arguments) {
    if (argument.array) {
      const std::string& name = launcher.of(argument.array);
      append(arrays, fmt::format("(void*){}", name));
      append(lengths, name + "_length");
      append(scalars, "0");
    } else {
      const Scalar type = argument.scalar->type.scalar;
      append(arrays, "nullptr");
      append(lengths, "0");
      append(scalars, fmt::format("px::u64(px::bits_as<px::traits<{0}>::same_width>({0}({1})))",
                                  c_type(type), launcher.of(argument.scalar)));
    }
  }
  std::string text = launcher.head("cpu_grid", kGridParameters) + " {\n";
  text += "  if (!is_grid(blocks, threads)) return 1;\n";
  text += fmt::format("  void* const arrays[] = {{{}}};\n", arrays.empty() ? "nullptr" : arrays);
  text += fmt::format("  const px::u64 lengths[] = {{{}}};\n", lengths.empty() ? "0" : lengths);
  text += fmt::format("  const px::u64 scalars[] = {{{}}};\n", scalars.empty() ? "0" : scalars);
  text += fmt::format(
      "  const px::launch launch = {{{{px::u32(blocks[0]), px::u32(blocks[1]), "
      "px::u32(blocks[2])}},\n                             {{px::u32(threads[0]), "
      "px::u32(threads[1]), px::u32(threads[2])}},\n                             arrays, lengths, "
      "scalars, nullptr}};\n  return launch_on_cpu({}, launch);\n}}\n",
      cpp_entry_name(launcher.kernel()));
  text += fmt::format("{} {{\n{}  return {};\n}}\n\n", launcher.head("cpu", ""), launcher.grid(),
                      launcher.call("cpu_grid", ""));
  return text;
}

std::string cuda_launcher(const Launcher& launcher) {
  std::string arguments;
  for (const ir::Kernel::Argument& argument : launcher.kernel().arguments) {
    if (argument.array) {
      const ir::Array& array = *argument.array;
      const bool is_const = array.direction == ir::Direction::in;
      const std::string_view element =
          array.element == Scalar::boolean ? "u8" : ir::name(array.element);
      append(arguments, fmt::format("({}px::{}*){}, (px::i64){}_length", is_const ? "const " : "",
                                    element, launcher.of(&array), launcher.of(&array)));
    } else {
      const Scalar type = argument.scalar->type.scalar;
      const std::string& name = launcher.of(argument.scalar);
      const bool is_half = ir::is_float(type) && ir::bits(type) == 16;
      if (type == Scalar::boolean)
        append(arguments, name + " != 0");
      else
        append(arguments, is_half ? fmt::format("px::{}{{{}}}", ir::name(type), name) : name);
    }
  }
  constexpr const char* kExtra =
      "const long long blocks[3], const long long threads[3], void* stream";
  std::string text = launcher.head("cuda_grid", kExtra) + " {\n";
  text += "  if (!is_grid(blocks, threads)) return (int)cudaErrorInvalidValue;\n";
  text += "  if (blocks[0] == 0 || blocks[1] == 0 || blocks[2] == 0) return 0;\n";
  text += "  const dim3 grid((unsigned)blocks[0], (unsigned)blocks[1], (unsigned)blocks[2]);\n";
  text += "  const dim3 block((unsigned)threads[0], (unsigned)threads[1], (unsigned)threads[2]);\n";
  text += fmt::format(
      "  px::{}<<<grid, block, 0, (cudaStream_t)stream>>>({});\n  return (int)cudaGetLastError();\n"
      "}}\n",
      cuda_entry_name(launcher.kernel()), arguments);
  text += fmt::format("{} {{\n{}  return {};\n}}\n\n", launcher.head("cuda", "void* stream"),
                      launcher.grid(), launcher.call("cuda_grid", "stream"));
  return text;
}

std::string header_text(const std::vector<Launcher>& launchers, std::string_view name) {
  std::string text = fmt::format(
      "// Made by hoist px build: how the kernels of {0}.px are launched, {0}.cc and {0}.cu have "
      "them.\n// Lengths are in elements; 0 means that all went well. A CPU's launch returns when "
      "it "
      "is done, a GPU's\n// is enqueued on the stream (a cudaStream_t).\n#pragma once\n\n"
      "#include <stddef.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
      name);
  constexpr const char* kGpuGrid =
      "const long long blocks[3], const long long threads[3], void* stream";
  for (const Launcher& launcher : launchers) {
    text += launcher.head("cpu", "") + ";\n" + launcher.head("cpu_grid", kGridParameters) + ";\n" +
            launcher.head("cuda", "void* stream") + ";\n" + launcher.head("cuda_grid", kGpuGrid) +
            ";\n\n";
  }
  return text + "#ifdef __cplusplus\n}\n#endif\n";
}

}  // namespace

Standalone emit_standalone(const ir::Module& module, std::string_view name) {
  std::vector<Launcher> launchers;
  for (const auto& kernel : module.kernels()) launchers.emplace_back(module, *kernel, name);
  const std::string include = fmt::format("#include \"{}.h\"\n\n", name);
  Standalone made;
  made.header = header_text(launchers, name);
  made.cpp = include + "#include <thread>\n#include <vector>\n\n" + emit_cpp(module, false).text +
             kGridCheck + kCpuLaunch + "\nextern \"C\" {\n\n";
  made.cuda = include + "#include <cuda_runtime.h>\n\n" + emit_cuda(module, false).text +
              kGridCheck + "\nextern \"C\" {\n\n";
  for (const Launcher& launcher : launchers) {
    made.cpp += cpu_launcher(launcher);
    made.cuda += cuda_launcher(launcher);
  }
  made.cpp += "}  // extern \"C\"\n";
  made.cuda += "}  // extern \"C\"\n";
  return made;
}

}  // namespace hoist::px
