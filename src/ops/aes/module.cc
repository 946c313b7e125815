#include "ops/aes/provider.h"

extern "C" int OSSL_provider_init(const OSSL_CORE_HANDLE* core, const OSSL_DISPATCH* core_functions,
                                  const OSSL_DISPATCH** functions, void** context) {
  return hoist::aes::initialise_provider(core, core_functions, functions, context);
}
