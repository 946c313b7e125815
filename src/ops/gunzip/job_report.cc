// What Job says about its operands.
#include <array>
#include <cstdio>
#include <cstring>

#include "ops/gunzip/job.h"

namespace hoist::gunzip {
namespace {

std::string hexadecimal(const char* pattern, unsigned value) {
  std::array<char, 16> text;
  std::snprintf(text.data(), text.size(), pattern, value);
  return text.data();
}

}  // namespace

Job::Next Job::report_header(const Operand& operand, const MemberHeader& header,
                             HeaderStatus status) {
  const std::string& name = operand.name;
  switch (status) {
    case HeaderStatus::input_ended:
      return report_input_ended(operand);
    case HeaderStatus::not_gzip:
      report_.error_on_new_line(name + ": not in gzip format");
      break;
    case HeaderStatus::trailing_zeros:
      if (options_.verbose) {
        report_.warning_on_new_line(name + ": decompression OK, trailing zero bytes ignored");
      }
      break;
    case HeaderStatus::trailing_garbage:
      report_.warning_on_new_line(name + ": decompression OK, trailing garbage ignored");
      break;
    case HeaderStatus::name_too_long:
      report_.error_on_new_line(name + ": corrupted input -- file name too large");
      return Next::stop;
    case HeaderStatus::unknown_method:
      report_.error(name + ": unknown method " + std::to_string(header.method) +
                    " -- not supported");
      break;
    case HeaderStatus::encrypted:
      report_.error(name + " is encrypted -- not supported");
      break;
    case HeaderStatus::reserved_flags:
      report_.error(name + " has flags " + hexadecimal("0x%x", header.flags) + " -- not supported");
      break;
    case HeaderStatus::wrong_header_crc:
      report_.error(name + ": header checksum " + hexadecimal("0x%04x", header.stored_crc) +
                    " != computed checksum " + hexadecimal("0x%04x", header.computed_crc));
      break;
    case HeaderStatus::member:
    case HeaderStatus::end:
    case HeaderStatus::foreign:
    case HeaderStatus::literal:
      break;  // nothing wrong, or for the original to say
  }
  return Next::proceed;
}

Job::Next Job::report_input_ended(const Operand& operand) {
  const int error = input_.error();
  report_.error_on_new_line(operand.name + ": " +
                            (error == 0 ? "unexpected end of file" : std::strerror(error)));
  return Next::stop;
}

Job::Next Job::report_member(Operand& operand, const MemberResult& result) {
  const bool intact = result.crc_matches && result.size_matches;
  if (result.status == InflateStatus::done && intact) return Next::proceed;
  if (writes()) {  // what has been decoded goes out before anything is said
    if (result.status == InflateStatus::done) window_.flush();
    if (const int error = file_sink_.drain(); error != 0) {
      report_.error_on_new_line(error_text(operand.output_name, error));
      return Next::stop;
    }
  }
  if (result.status == InflateStatus::input_ended) return report_input_ended(operand);
  if (result.status != InflateStatus::done) {
    report_.error_on_new_line(operand.name + ": invalid compressed data--format violated");
    return Next::stop;
  }
  if (!result.crc_matches) {
    report_.error_on_new_line(operand.name + ": invalid compressed data--crc error");
  }
  if (!result.size_matches) {
    report_.error_on_new_line(operand.name + ": invalid compressed data--length error");
  }
  operand.failed = true;
  return writes() ? Next::stop : Next::proceed;
}

void Job::report_done(const Operand& operand) {
  const bool clean = operand.end == HeaderStatus::end && !operand.failed;
  if (options_.list) {
    listing_.set_overhead(operand.overhead);
    if (!clean) {
      listing_.add_totals();
      return;
    }
    listing_.add({.compressed = input_.bytes_read(),
                  .uncompressed = operand.size,
                  .crc = operand.crc,
                  .time = operand.time.tv_sec,
                  .name = operand.output_name});
    return;
  }
  if (!options_.verbose || operand.failed || operand.ended_badly()) return;
  if (operand.is_stdin && !(options_.test && clean)) return;
  if (options_.test) {
    report_.print(" OK\n");
  } else {
    report_.print(format_ratio(input_.bytes_read(), operand.size, operand.overhead) + " -- " +
                  (options_.keep ? "created " : "replaced with ") + operand.output_name + "\n");
  }
}

}  // namespace hoist::gunzip
