// Compiling.
#include "capi/px_program.h"

#include <fmt/core.h>
#include <unistd.h>

#include <charconv>
#include <string_view>

#include "capi/status.h"
#include "capi/structs.h"

namespace hoist::capi {
namespace {

hoist_px_direction direction_of(const ir::Array& array) {
  switch (array.direction) {
    case ir::Direction::in:
      return HOIST_PX_IN;
    case ir::Direction::out:
      return HOIST_PX_OUT;
    case ir::Direction::inout:
      break;
  }
  return HOIST_PX_INOUT;
}

hoist_px_parameter parameter_of(const ir::Kernel::Argument& argument) {
  const ir::Scalar type = argument.array ? argument.array->element : argument.scalar->type.scalar;
  return {.name = argument.name().c_str(),
          .type = ir::name(type).data(),  // of a literal
          .bytes = static_cast<size_t>(ir::bytes(type)),
          .is_array = argument.array ? 1 : 0,
          .direction = argument.array ? direction_of(*argument.array) : HOIST_PX_IN};
}

std::vector<hoist_px_program::Kernel> kernels_of(const ir::Module& module) {
  std::vector<hoist_px_program::Kernel> kernels;
  for (const auto& kernel : module.kernels()) {
    hoist_px_program::Kernel& own = kernels.emplace_back();
    own.kernel = kernel.get();
    for (const auto& argument : kernel->arguments) {
      own.parameters.push_back(parameter_of(argument));
    }
  }
  return kernels;
}

std::unique_ptr<hoist_px_messages> messages_of(std::vector<px::Message> texts) {
  auto made = std::make_unique<hoist_px_messages>();
  made->texts = std::move(texts);
  for (const px::Message& message : made->texts) {
    made->list.push_back({message.is_error ? 1 : 0, message.line, message.column,
                          message.what.c_str(), message.mend.c_str()});
  }
  return made;
}

Status compile(const char* text, const hoist_px_compile_options& options,
               std::unique_ptr<hoist_px_program>& program, std::vector<px::Message>& messages) {
  const Result<PxTarget> target = px_target_of(options.target);
  if (!target) return target.error();
  const std::string name = options.name == nullptr ? "<text>" : options.name;
  Result<px::Lowered> lowered = px::read_text(text, name, &messages);
  if (!lowered) return lowered.error();
  auto made = std::make_unique<hoist_px_program>(*std::move(lowered));
  made->name = name;
  made->text = text;
  made->target = *target;
  made->check_bounds = options.check_bounds != 0;
  made->process = ::getpid();
  made->kernels = kernels_of(made->lowered.module);
  if (target->target != px::Target::automatic) {
    const Result<device::Device*> device = target->target == px::Target::cuda
                                               ? device::cuda_device(target->gpu)
                                               : &device::cpu_device();
    if (!device) return device.error();
    if (const auto built = made->on(**device); !built) return built.error();
  }
  program = std::move(made);
  return {};
}

}  // namespace

Result<std::unique_ptr<device::Stream>> PxBuilt::take_stream() const {
  if (std::unique_ptr<device::Stream> stream(idle_.exchange(nullptr)); stream) return stream;
  Result<device::Stream> made = device::Stream::create(program_.device());
  if (!made) return made.error();
  return std::make_unique<device::Stream>(*std::move(made));
}

Result<PxTarget> px_target_of(const char* text) {
  const std::string_view name = text == nullptr ? "auto" : text;
  if (name == "auto") return PxTarget{px::Target::automatic};
  if (name == "cpu") return PxTarget{px::Target::cpu};
  if (name == "interpreter") return PxTarget{px::Target::interpreter};
  if (name == "cuda") return PxTarget{px::Target::cuda};
  constexpr std::string_view kNumbered = "cuda:";
  if (name.starts_with(kNumbered)) {
    int gpu = -1;
    const auto [end, error] =
        std::from_chars(name.data() + kNumbered.size(), name.data() + name.size(), gpu);
    if (error == std::errc() && end == name.data() + name.size() && gpu >= 0) {
      return PxTarget{px::Target::cuda, gpu};
    }
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("no target {}: give auto, cpu, cuda, cuda:N or interpreter", name));
}

}  // namespace hoist::capi

using namespace hoist::capi;
using hoist::Result;
using hoist::Status;
namespace px = hoist::px;

Result<const PxBuilt*> hoist_px_program::on(hoist::device::Device& device) const {
  const std::scoped_lock lock(mutex_);
  std::unique_ptr<PxBuilt>& built = built_[&device];
  if (built) return built.get();
  // A module becomes part of what was built, so each device reads the text anew.
  const Result<px::Program> made = px::compile_text(
      text, {.target = target.target, .device = &device, .check_bounds = check_bounds}, name);
  if (!made) return made.error();
  built = std::make_unique<PxBuilt>(*made);
  return built.get();
}

extern "C" {

hoist_status hoist_px_compile(const char* text, const hoist_px_compile_options* options,
                              hoist_px_program** program, hoist_px_messages** messages) {
  return guarded([&]() -> Status {
    if (messages != nullptr) *messages = nullptr;
    if (Status there = needed(program, "program"); !there) return there;
    *program = nullptr;
    if (Status there = needed(text, "text"); !there) return there;
    const auto own = options_of(options, "hoist_px_compile_options");
    if (!own) return own.error();
    std::vector<px::Message> texts;
    std::unique_ptr<hoist_px_program> made;
    Status done = compile(text, *own, made, texts);
    if (messages != nullptr && !texts.empty()) *messages = messages_of(std::move(texts)).release();
    *program = made.release();
    return done;
  });
}

void hoist_px_free(hoist_px_program* program) { delete program; }

const hoist_px_message* hoist_px_messages_list(const hoist_px_messages* messages, size_t* count) {
  const bool has_some = messages != nullptr && !messages->list.empty();
  if (count != nullptr) *count = has_some ? messages->list.size() : 0;
  return has_some ? messages->list.data() : nullptr;
}

void hoist_px_messages_free(hoist_px_messages* messages) { delete messages; }

}  // extern "C"
