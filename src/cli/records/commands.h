// The commands of `hoist records`: they encode text into .hrec files and decode those, give
// columns as arrays, look into and verify them, and save what is whole of damaged ones.
#pragma once

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

struct DecodeOptions {
  std::string file;
  std::string output = "-";
  std::string rows;                // "A:B"; empty: all
  std::vector<std::string> where;  // conditions that all hold
  bool force = false;
};
int decode_command(const DecodeOptions& options);

struct ColumnsOptions {
  std::string file;
  std::string output;
  std::vector<std::string> select;
  bool force = false;
};
int columns_command(const ColumnsOptions& options);

struct RecordsInfoOptions {
  std::string file;
  std::string plot;    // an SVG file; empty: none
  bool force = false;  // replace it
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

}  // namespace hoist::cli
