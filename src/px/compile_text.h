// From the text of a px file to kernels that can be launched.
//
//   std::vector<Message> messages;
//   Result<Program> program = compile_text(text, {.target = Target::cpu}, "k.px", &messages);
//   if (!program) …program.error().message…  // as `hoist px check` prints it
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "px/program.h"

namespace hoist::px {

// What is wrong, or doubtful, in a text. Line and column count from 1.
struct Message {
  bool is_error = false;  // else a warning
  uint32_t line = 1;
  uint32_t column = 1;
  std::string what;
  std::string mend;  // what the author can do
};

struct Lowered;  // px/lower/lower.h

// `name`: of the text, for messages. `messages`, if any, is set to the errors and warnings in the
// order of the text. Errors: those of Program::build(); `invalid_argument` for a text that is no
// px, with all its errors, each with its line, a caret and a mend; `exhausted` for one above 16
// MiB.
Result<Program> compile_text(std::string_view text, const ProgramOptions& options = {},
                             const std::string& name = "<text>",
                             std::vector<Message>* messages = nullptr);

// The same without compiling anything: what a text says.
Result<Lowered> read_text(std::string_view text, const std::string& name = "<text>",
                          std::vector<Message>* messages = nullptr);

}  // namespace hoist::px
