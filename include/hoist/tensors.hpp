// Model weights that load progressively and end bit-exact. Part of Hoist's C++ library
// (hoist/array.hpp says how to link it, and how errors come).
//
// A .holo file holds the tensors of a model in parts. The first parts give every tensor roughly,
// all of them exactly, and the file says how good each number of parts is. Packing a model, and
// loading a tensor of it roughly, then exactly:
//
//   Result<ModelSource> model = ModelSource::open({"model.safetensors"});
//   if (!model) return model.error();
//   Result<HoloTensorWriter> packed = pack_model(*model, "model.holo");
//   if (!packed) return packed.error();
//
//   Result<HoloTensorReader> file = open_holotensor("model.holo");
//   if (!file) return file.error();
//   Result<LoadedTensor> rough = file->decode("layers.0.w", {.target = 0.96});
//   if (!rough) return rough.error();
//   Result<LoadedTensor> exact = file->decode("layers.0.w");  // bit for bit what was packed
//   if (!exact) return exact.error();
//
// Quality is 1 - |x - x'|^2 / |x|^2, measured when the file was written.
//
// Names. Everything is in namespace hoist::tensors.
//
//  files
//   ModelSource, ModelTensor                  tensors/model/model_source.h:
//                                             safetensors, GGUF, NumPy
//   read_slice()                              tensors/model/model_slice.h,
//                                             tensors/file/holo_slice.h
//   read_metadata()                           tensors/model/metadata.h
//   pack_model()                              tensors/file/pack.h
//   restore_file(), restore_as_named(), write_safetensors()    tensors/file/restore.h
//   write_holotensor(), open_holotensor(), read_holotensor(), encode_to_file(), decode_from_file()
//                                             tensors/file/holotensor.h: a file in one call
//   HoloTensorWriter, HoloTensorReader, PartSelection, FaultTolerance
//                                             tensors/file/writer.h, tensors/file/reader.h
//   FragmentSource, MemoryFragmentSource      tensors/file/fragment_source.h: further sources
//   QualityPolicy, LayerQualityTarget         tensors/file/quality_policy.h: quality by layer
//   load_directory_progressive()              tensors/file/directory.h
//   verify_holotensor(), repair_holotensor()  tensors/file/repair.h
//
//  one tensor
//   HoloTensorEncoder, HoloTensorDecoder      tensors/builders.h
//   encode(), make_decoder(), EncodedTensor, HolographicEncoding    tensors/encoded_tensor.h
//   QualityCurve                              tensors/quality_curve.h
//   SeededRng, Dct, Dct2d                     tensors/transform/seeded_rng.h, codec/dct.h
//
//  devices: the CPU ("cpu") and CUDA's ("cuda:0"); device::find_device("auto") chooses
//   ModelLoader, LoadOptions, DeviceModel     tensors/gpu/model_loader.h: a file onto a device
//   GpuHoloContext, GpuAccumulator, HoloStreamPool   tensors/gpu/holo_context.h: any fragments
//   ProgressiveHoloLoader, StreamingHoloContext      tensors/gpu/holo_streaming.h
//   MultiGpuHoloContext                       tensors/gpu/multi_gpu.h: several devices' links
//   Device, Buffer, Stream                    device/device.h, device/buffer.h, device/stream.h
//
// Element types and shapes are those of hoist/array.hpp, and hoist/container.hpp is what lies under
// a .holo file.
//
// Memory: a tensor's size, its stored parts, and what its decoder needs, a small multiple of that;
// headers say more. Files are untrusted: readers bound what they allocate by the file's size and by
// ReadOptions, and answer `corrupt` or `exhausted`.
//
// Thread safety: readers and sources are immutable, and any number of threads may use one. Writers,
// encoders, decoders and accumulators are for one thread at a time. A ThreadPool that is given to a
// call takes part in it; ThreadPool::process() is that of the process.
//
// A GPU is used where the driver and libhoist_cuda.so, beside libhoist_cxx.so, are there; else
// find_device("cuda") is `unavailable` and says why. Not in a child after fork().
#pragma once

#include "base/threads.h"
#include "codec/dct.h"
#include "device/buffer.h"
#include "device/device.h"
#include "device/stream.h"
#include "tensors/builders.h"
#include "tensors/encoded_tensor.h"
#include "tensors/file/directory.h"
#include "tensors/file/fragment_source.h"
#include "tensors/file/holo_slice.h"
#include "tensors/file/holotensor.h"
#include "tensors/file/pack.h"
#include "tensors/file/quality_policy.h"
#include "tensors/file/reader.h"
#include "tensors/file/repair.h"
#include "tensors/file/restore.h"
#include "tensors/file/writer.h"
#include "tensors/gpu/holo_context.h"
#include "tensors/gpu/holo_streaming.h"
#include "tensors/gpu/model_loader.h"
#include "tensors/gpu/multi_gpu.h"
#include "tensors/model/metadata.h"
#include "tensors/model/model_slice.h"
#include "tensors/model/model_source.h"
#include "tensors/quality_curve.h"
#include "tensors/transform/seeded_rng.h"
