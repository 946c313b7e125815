// The commands of `hoist tensors`: they pack model files into .holo files and back, and look into,
// verify and repair those.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hoist::cli {

struct PackOptions {
  std::vector<std::string> inputs;
  std::string output;
  std::string encoding = "embedded";
  std::string order = "layer";
  std::string precision;  // empty: the encoding's own choice
  uint32_t fragments = 8;
  uint32_t parity = 0;
  uint64_t seed = 0;
  uint32_t max_rank = 256;
  double essential_share = 0.02;
  bool digests = false;
  bool force = false;  // replace the output; so below
  bool json = false;
};
int pack_command(const PackOptions& options);

struct UnpackOptions {
  std::string input;
  std::string output;
  std::optional<double> target;
  std::optional<size_t> layers;
  std::string fragments;              // "0,2-4"; empty: all
  std::vector<std::string> policy;    // "PATTERN=QUALITY@PRIORITY"
  std::optional<double> min_quality;  // go on without damaged parts down to it
  bool skip_damaged = false;          // leave out damaged tensors
  std::vector<std::string> sources;   // further copies of the input
  bool force = false;
  bool json = false;
};
int unpack_command(const UnpackOptions& options);

struct TensorsInfoOptions {
  std::string file;
  std::string plot;     // SVG to be written
  bool packed = false;  // tensors_packed_command() instead
  bool force = false;
  bool json = false;
};
int tensors_info_command(const TensorsInfoOptions& options);
// What the file's model takes with weights that stay packed in memory (tensors/packed/pack.h).
int tensors_packed_command(const TensorsInfoOptions& options);

struct TensorsVerifyOptions {
  std::vector<std::string> files;
  bool json = false;
};
int tensors_verify_command(const TensorsVerifyOptions& options);

struct TensorsRepairOptions {
  std::string file;
  std::string output;  // empty: the file itself
  bool force = false;
  bool json = false;
};
int tensors_repair_command(const TensorsRepairOptions& options);

struct TensorsBenchOptions {
  uint64_t size = uint64_t{256} << 20;
  std::string folder;   // for the files; empty: the system's for temporary ones
  bool packed = false;  // tensors_packed_bench_command() instead
  bool json = false;
};
int tensors_bench_command(const TensorsBenchOptions& options);
// Weights that stay packed in memory: products on a GPU, packing on the CPU.
int tensors_packed_bench_command(const TensorsBenchOptions& options);

}  // namespace hoist::cli
