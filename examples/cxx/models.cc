#include <algorithm>
#include <fstream>
#include <hoist/tensors.hpp>
#include <iostream>
#include <random>
#include <vector>

#include "tour.h"

using namespace hoist::tensors;

namespace {

// A .safetensors of one matrix: the length of the header, the header, the elements.
bool write_model(const std::string& path, const std::vector<float>& weights) {
  std::string header =
      R"({"layer.0.w":{"dtype":"F32","shape":[256,512],"data_offsets":[0,524288]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const uint64_t length = header.size();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << header;
  file.write(reinterpret_cast<const char*>(weights.data()),
             static_cast<std::streamsize>(weights.size() * sizeof(float)));
  return file.good();
}

}  // namespace

hoist::Status tour_models(const std::string& folder) {
  std::mt19937 random(1);
  std::normal_distribution<float> gauss(0, 0.02f);
  std::vector<float> weights(256 * 512);
  for (float& weight : weights) weight = gauss(random);
  const std::string path = folder + "/model.safetensors";
  if (!write_model(path, weights)) {
    return hoist::fail(hoist::ErrorCode::io, "cannot write (" + path + "): name another folder");
  }

  const auto model = ModelSource::open({path});
  if (!model) return model.error();
  const auto packed = pack_model(*model, folder + "/model.holo");
  if (!packed) return packed.error();

  const auto file = open_holotensor(folder + "/model.holo");
  if (!file) return file.error();
  const size_t parts = file->header().tensors[0].parts.size();
  const auto rough = file->decode("layer.0.w", {.target = 0.96});
  if (!rough) return rough.error();
  std::cout << "roughly: " << rough->parts << " of " << parts << " parts, quality "
            << rough->quality << '\n';

  const auto exact = file->decode("layer.0.w");
  if (!exact) return exact.error();
  const auto* const elements = reinterpret_cast<const float*>(exact->bytes.data());
  const bool same = std::equal(weights.begin(), weights.end(), elements);
  std::cout << "exactly: " << exact->parts << " of " << parts << " parts, "
            << (same ? "bit for bit" : "and yet different") << '\n';
  return {};
}
