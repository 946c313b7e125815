#include "device/cuda_driver.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cctype>
#include <cstdlib>
#include <string_view>

#include "base/file.h"
#include "device/cuda_environment.h"

namespace hoist::device {
namespace {

// Numbers of the driver API (cuda.h): CUresult and CUdevice_attribute.
constexpr int kNoDevice = 100;
constexpr int kDriverMismatch = 803;
constexpr int kMultiprocessorCount = 16;
constexpr int kComputeMode = 20;
constexpr int kComputeMajor = 75;
constexpr int kComputeMinor = 76;

constexpr int kExclusiveProcess = 3;  // CUcomputemode

// The driver API's own signatures; CUresult and CUdevice are ints.
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*version)(int*) = nullptr;
  int (*count)(int*) = nullptr;
  int (*get)(int*, int) = nullptr;
  int (*name)(char*, int, int) = nullptr;
  int (*memory)(size_t*, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  int (*pci_bus_id)(char*, int, int) = nullptr;
  int (*can_access_peer)(int*, int, int) = nullptr;

  template <typename Function>
  static bool find(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(::dlsym(library, name));
    return function != nullptr;
  }

  bool load(void* library) {
    return find(library, "cuInit", init) && find(library, "cuDriverGetVersion", version) &&
           find(library, "cuDeviceGetCount", count) && find(library, "cuDeviceGet", get) &&
           find(library, "cuDeviceGetName", name) && find(library, "cuDeviceTotalMem_v2", memory) &&
           find(library, "cuDeviceGetAttribute", attribute) &&
           find(library, "cuDeviceGetPCIBusId", pci_bus_id) &&
           find(library, "cuDeviceCanAccessPeer", can_access_peer);
  }
};

std::string why_not(int result) {
  const char* const visible = users_visible_gpus();
  if (result == kNoDevice && visible != nullptr) {
    return fmt::format("CUDA_VISIBLE_DEVICES={} hides every device: unset it", visible);
  }
  if (result == kNoDevice) return "the driver sees no device";
  if (result == kDriverMismatch) {
    return "libcuda.so.1 and the kernel's driver are of different versions: restart the machine "
           "after an update, or give the container the host's library";
  }
  return fmt::format("the driver answers with error {} to cuInit: does `nvidia-smi` work?", result);
}

int numa_node_of(const std::string& pci_bus_id) {
  const Result<std::string> text =
      read_file(fmt::format("/sys/bus/pci/devices/{}/numa_node", pci_bus_id), 64);
  return text ? std::atoi(text->c_str()) : -1;
}

// What the driver says; a question that it does not answer leaves the default.
DeviceProperties describe(const Driver& driver, int index, int count) {
  DeviceProperties properties;
  properties.kind = DeviceKind::cuda;
  properties.index = index;
  int device = 0;
  if (driver.get(&device, index) != 0) return properties;
  char text[256] = "";
  if (driver.name(text, sizeof text, device) == 0) properties.name = text;
  properties.slice = properties.name.find(" MIG ") != std::string::npos;
  size_t memory = 0;
  if (driver.memory(&memory, device) == 0) properties.memory = memory;
  (void)driver.attribute(&properties.multiprocessors, kMultiprocessorCount, device);
  int mode = 0;
  properties.exclusive =
      driver.attribute(&mode, kComputeMode, device) == 0 && mode == kExclusiveProcess;
  (void)driver.attribute(&properties.compute_major, kComputeMajor, device);
  (void)driver.attribute(&properties.compute_minor, kComputeMinor, device);
  if (driver.pci_bus_id(text, sizeof text, device) == 0) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    properties.pci_bus_id = text;  // sysfs has it in lower case
    properties.numa_node = numa_node_of(properties.pci_bus_id);
  }
  for (int i = 0; i < count; ++i) {
    int peer = 0;
    int can = 0;
    if (i != index && driver.get(&peer, i) == 0 &&
        driver.can_access_peer(&can, device, peer) == 0 && can != 0) {
      properties.peers.push_back(i);
    }
  }
  return properties;
}

}  // namespace

CudaDevices find_cuda_devices() {
  CudaDevices found;
  // Never closed: the driver does not like to be unloaded.
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    found.why = "no driver: libcuda.so.1 is not installed";
    return found;
  }
  Driver driver;
  if (!driver.load(library)) {
    found.why = "libcuda.so.1 is not a CUDA driver, or older than CUDA 4";
    return found;
  }
  if (const int result = driver.init(0); result != 0) {
    found.why = why_not(result);
    return found;
  }
  (void)driver.version(&found.driver_version);
  int count = 0;
  if (driver.count(&count) != 0 || count <= 0) {
    found.why = why_not(kNoDevice);
    return found;
  }
  for (int i = 0; i < count; ++i) found.devices.push_back(describe(driver, i, count));
  return found;
}

}  // namespace hoist::device
