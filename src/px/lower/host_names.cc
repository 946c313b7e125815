#include "px/lower/host_names.h"

#include <fmt/format.h>

namespace hoist::px {

using syntax::Name;
using syntax::Statement;

namespace {

template <typename Use>
void for_each(const std::vector<Statement>& statements, const Use& use) {
  for (const Statement& statement : statements) {
    use(statement);
    for_each(statement.body, use);
  }
}

bool is_copy(const Statement& statement) {
  return statement.word == Word::GPU_COPY_TO_GPU || statement.word == Word::GPU_COPY_FROM_GPU;
}

}  // namespace

void HostNames::declare(const std::vector<Statement>& statements) {
  for_each(statements, [&](const Statement& s) {
    if (s.word == Word::GPU_ALLOC) declare_allocation(s);
  });
  for_each(statements, [&](const Statement& s) {
    if (s.word == Word::GPU_LAUNCH) declare_parameters(s);
  });
  for_each(statements, [&](const Statement& s) {
    if (is_copy(s)) declare_copied(s);
    if (s.word == Word::GPU_LAUNCH) declare_given(s);
  });
}

HostArray* HostNames::add_array(const Name& name, ir::Scalar element, bool is_allocated) {
  HostArray& array = program_.arrays.emplace_back();
  array.array.name = name.text;
  array.array.element = element;
  array.is_allocated = is_allocated;
  return l_.declare(name, {.kind = Symbol::Kind::array, .array = &array.array}) ? &array : nullptr;
}

HostArray* HostNames::find_array(const std::string& name) { return program_.find_array(name); }

void HostNames::declare_allocation(const Statement& statement) {
  const auto type = l_.type(*statement.type);
  if (!type) return;
  if (type->is_vector()) {
    return l_.error(statement.type->span, "an array of vectors", "allocate its numbers");
  }
  add_array(statement.results[0], type->scalar, true);
}

const ir::Kernel* HostNames::kernel_of(const Statement& launch) {
  const Symbol* symbol = l_.scopes.find(launch.option.text);
  if (symbol != nullptr && symbol->kind == Symbol::Kind::failed) return nullptr;
  if (symbol != nullptr && symbol->kind == Symbol::Kind::kernel) return symbol->kernel;
  if (l_.forgives_unknown_names) return nullptr;
  l_.error(launch.option.span, fmt::format("no kernel {}", launch.option.text),
           "launch a kernel of this file: GPU_KERNEL begins one");
  return nullptr;
}

const syntax::Expression* HostNames::given(const Statement& launch, const std::string& parameter) {
  for (size_t i = 0; i < launch.results.size(); ++i) {
    if (launch.results[i].text != parameter) continue;
    return launch.operands[launch.blocks + launch.threads + i].get();
  }
  return nullptr;
}

// Arrays and scalars that the launch takes by the names of its kernel's parameters.
void HostNames::declare_parameters(const Statement& launch) {
  const ir::Kernel* kernel = kernel_of(launch);
  if (kernel == nullptr) return;
  for (const ir::Kernel::Argument& argument : kernel->arguments) {
    const bool is_given = given(launch, argument.name()) != nullptr;
    const Name name{argument.name(), launch.option.span};
    if (argument.array == nullptr) {
      declare_scalar(name, argument.scalar->type.scalar, launch, is_given);
    } else if (!is_given) {
      declare_array(name, *argument.array, launch);
    }
  }
}

// Arrays that a launch names by WITH, and nothing else names, are of the parameter's type.
void HostNames::declare_given(const Statement& launch) {
  const Symbol* symbol = l_.scopes.find(launch.option.text);
  if (symbol == nullptr || symbol->kernel == nullptr) return;
  for (const ir::Kernel::Argument& argument : symbol->kernel->arguments) {
    const syntax::Expression* with = given(launch, argument.name());
    const bool is_name = with != nullptr && with->kind == syntax::ExpressionKind::name;
    if (argument.array == nullptr || !is_name || find_array(with->text) != nullptr) continue;
    add_array({with->text, with->span}, argument.array->element, false);
  }
}

void HostNames::declare_array(const Name& name, const ir::Array& array, const Statement& launch) {
  const HostArray* there = find_array(name.text);
  if (there == nullptr) {
    add_array(name, array.element, false);
  } else if (there->array.element != array.element) {
    report_conflict(name.text, ir::name(there->array.element), ir::name(array.element), launch);
  }
}

// One that WITH gives may be named there, too: WITH n = n / 2.
void HostNames::declare_scalar(const Name& name, ir::Scalar type, const Statement& launch,
                               bool is_given) {
  if (const HostScalar* there = program_.find_scalar(name.text)) {
    const ir::Scalar known = there->parameter.type.scalar;
    if (known != type && !is_given)
      report_conflict(name.text, ir::name(known), ir::name(type), launch);
    return;
  }
  HostScalar& scalar = program_.scalars.emplace_back();
  scalar.parameter = {name.text, type};
  l_.declare(name, {.kind = Symbol::Kind::parameter, .parameter = &scalar.parameter});
}

const HostScalar* HostNames::use_scalar(const std::string& name) {
  HostScalar* scalar = program_.find_scalar(name);
  if (scalar != nullptr) scalar->is_used = true;
  return scalar;
}

void HostNames::report_conflict(const std::string& name, std::string_view known,
                                std::string_view other, const Statement& launch) {
  l_.error(launch.option.span,
           fmt::format("{} is {} to one kernel and {} to another", name, known, other),
           fmt::format("rename one parameter, or write GPU_LAUNCH … WITH {} = …", name));
}

// The host's side of a copy has the device's type.
void HostNames::declare_copied(const Statement& copy) {
  const bool to_gpu = copy.word == Word::GPU_COPY_TO_GPU;
  const Name& host = copy.results[to_gpu ? 0 : 1];
  const Name& gpu = copy.results[to_gpu ? 1 : 0];
  const HostArray* allocated = find_array(gpu.text);
  if (allocated == nullptr || !allocated->is_allocated) {
    return l_.error(gpu.span, fmt::format("{} is no array on the GPU", gpu.text),
                    fmt::format("make it before: GPU_ALLOC {} type count", gpu.text));
  }
  const HostArray* there = find_array(host.text);
  if (there == nullptr) {
    add_array(host, allocated->array.element, false);
  } else if (there->is_allocated) {
    l_.error(host.span, fmt::format("{} is on the GPU, too", host.text),
             "name an array of the host");
  } else if (there->array.element != allocated->array.element) {
    l_.error(host.span,
             fmt::format("{} is {}, and {} is {}", host.text, name(there->array.element), gpu.text,
                         name(allocated->array.element)),
             "allocate the array with the host's type");
  }
}

}  // namespace hoist::px
