// What the tour has, a file for each of the libraries. Each says what it found on standard output.
#pragma once

#include <hoist/array.hpp>
#include <string>

// Packs a model file and loads a tensor of it: roughly, then exactly.
hoist::Status tour_models(const std::string& folder);
// Rows and columns of an array, without a copy.
hoist::Status tour_arrays();
// Patterns that resemble what is asked for, and how much two strings resemble each other.
hoist::Status tour_search();
// Weights that stay packed while they multiply.
hoist::Status tour_packed();
// A kernel compiled and run on the CPU.
hoist::Status tour_kernels();
// A graph of tensor operations, compiled and run; its text; a circuit.
hoist::Status tour_programs();
// A file of blocks, written and read.
hoist::Status tour_containers(const std::string& folder);
