// The commands of `hoist records`: they encode text into .hrec files and decode those, give
// columns as arrays, look into and verify them, save what is whole of damaged ones, and measure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hoist::cli {

struct EncodeOptions {
  std::string input;
  std::string output;
  std::string format = "auto";
  std::string header = "auto";  // of a CSV: yes, no
  bool best = false;
  bool force = false;  // replace the output; so below
  bool json = false;
};
int encode_command(const EncodeOptions& options);

struct AppendRecordsOptions {
  std::string input;
  std::string file;
  std::string commit_every = "5s";
  bool best = false;
  bool json = false;
};
int append_command(const AppendRecordsOptions& options);

// What text of records becomes.
struct RecordForm {
  std::string to;  // a format; empty: what the output's name says
  std::string from = "auto";
  std::optional<std::string> delimiter = {};  // of CSV; else what the text has
  bool no_header = false;
  bool skip_unparsed = false;
  std::optional<std::string> keep_text = {};  // a key; else rows that are no records are an error

  bool is_asked() const {  // how the rows are read
    return from != "auto" || delimiter || no_header || skip_unparsed || keep_text;
  }
};

struct ConvertRecordsOptions {
  std::string input;
  std::string output = "-";
  RecordForm form;
  bool force = false;
};
int convert_records_command(const ConvertRecordsOptions& options);

struct DecodeOptions {
  std::string file;
  std::string output = "-";
  std::optional<std::string> rows = {};  // "A:B"; else all
  std::vector<std::string> where;        // conditions that all hold
  bool floats = false;                   // as in ColumnsOptions
  RecordForm form;                       // where `to` is empty: the text as it was
  bool force = false;
};
int decode_command(const DecodeOptions& options);

struct ColumnsOptions {
  std::string file;
  std::string output;
  std::vector<std::string> select;  // none: all, of Arrow files
  std::string to;                   // npz or arrow; empty: by the output's name
  bool floats = false;              // decimal numbers as float64
  bool force = false;
};
int columns_command(const ColumnsOptions& options);

struct RecordsInfoOptions {
  std::string file;
  std::optional<std::string> plot = {};  // an SVG file
  bool force = false;                    // replace it
  bool json = false;
};
int records_info_command(const RecordsInfoOptions& options);

struct RecordsVerifyOptions {
  std::vector<std::string> files;
  bool json = false;
};
int records_verify_command(const RecordsVerifyOptions& options);

struct RecordsRepairOptions {
  std::string file;
  std::string output;
  bool force = false;
  bool json = false;
};
int records_repair_command(const RecordsRepairOptions& options);

struct RecordsBenchOptions {
  std::vector<std::string> files;      // none: generated candles
  uint64_t size = uint64_t{64} << 20;  // bytes of those
  int rounds = 5;
  bool json = false;
};
int records_bench_command(const RecordsBenchOptions& options);

}  // namespace hoist::cli
