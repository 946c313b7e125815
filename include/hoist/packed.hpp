// Weights that stay packed in memory and multiply so: a bfloat16 matrix in three quarters of its
// bytes, exact for every bit pattern. Part of Hoist's C++ library (hoist/array.hpp says how to link
// it, and how errors come).
//
// A matrix packs on its device, multiplies there as torch.nn.functional.linear does, and gives its
// bits back:
//
//   Result<device::Device*> device = device::find_device("cpu");  // or "cuda:0"
//   if (!device) return device.error();
//   const PlainMatrix plain = {weights.data(), rows, columns, columns};
//   Result<ResidentMatrix> matrix = ResidentMatrix::pack(**device, plain);
//   if (!matrix) return matrix.error();
//   if (matrix->plainness() != Plainness::packed) use(reason(matrix->plainness()));  // no gain
//
//   const Operands product = {x.data(), 1, columns, y.data(), rows};
//   if (Status done = matrix->multiply(product); !done) return done;  // y = x Wt
//   if (Status done = matrix->unpack(weights.data()); !done) return done;
//
// A product sums in f32, in an order of its own. Who wants the very bits of another product with
// plain weights unpacks, and multiplies those.
//
// Names. Everything is in namespace hoist::tensors::packed.
//
//   ResidentMatrix, Prediction, predict_packing()   tensors/packed/resident_matrix.h
//   PlainMatrix                                     tensors/packed/pack.h
//   Operands, Activation                            tensors/packed/matmul.h, epilogue.h
//   Shape, Plainness, reason()                      tensors/packed/matrix.h
//   Device, Buffer, Stream, find_device()           hoist::device; device/device.h, buffer.h,
//   stream.h
//
// Weights are uint16_t, the bits of bfloat16, row by row. docs/reference/packed.md has the form,
// what stays plain, and which products are faster than plain ones.
//
// Memory: shape().bytes() of the device. Products of up to 32 rows of x take none besides; what
// more rows take comes from the device's pool. Thread safety: any number of threads may use a
// matrix.
#pragma once

#include "device/buffer.h"
#include "device/device.h"
#include "device/stream.h"
#include "tensors/packed/resident_matrix.h"
