// A tour of Hoist's C++ libraries.
//
//   tour FOLDER      writes model.safetensors, model.holo and notes.holo there
#include "tour.h"

#include <functional>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: tour FOLDER\n";
    return 2;
  }
  const std::string folder = argv[1];
  const std::function<hoist::Status()> stops[] = {
      [&] { return tour_models(folder); }, [] { return tour_arrays(); },
      [] { return tour_search(); },        [] { return tour_kernels(); },
      [] { return tour_programs(); },      [&] { return tour_containers(folder); },
      [] { return tour_packed(); },
  };
  for (const auto& stop : stops) {
    if (const hoist::Status done = stop(); !done) {
      std::cerr << done.error().message << '\n';
      return 1;
    }
  }
  return 0;
}
