// Writing files of records from Python.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "base/result.h"
#include "python/released_gil.h"

namespace hoist::python {

// A function of Python's that an engine calls from the calling thread, and what it raised.
class Callback {
 public:
  explicit Callback(nanobind::object function) : function_(std::move(function)) {}

  // Calls `work` with the function and the interpreter's lock, and lets signals be handled.
  template <typename Work>
  Status call(const Work& work) {
    const UsersTurn turn;
    try {
      if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
      work(function_);
      return {};
    } catch (...) {
      raised_ = std::current_exception();
      return fail(ErrorCode::cancelled, "the caller's function raised");
    }
  }

  // With the lock held.
  void check_raised() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  nanobind::object function_;
  std::exception_ptr raised_;
};

// Whether what has the output's name may be replaced; never one of the inputs.
OutputRule records_rule(bool replace, std::vector<std::string> inputs);

void define_records_encode(nanobind::module_& module);

// Warns the caller's caller of what is not empty: a name that misleads (records/detect.h).
void warn_of_note(const std::string& note);

}  // namespace hoist::python
