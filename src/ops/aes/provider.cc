#include "ops/aes/provider.h"

#include <dlfcn.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <array>
#include <charconv>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ops/aes/accounting.h"
#include "ops/aes/aead_cipher.h"
#include "ops/aes/algorithms.h"
#include "ops/aes/block_cipher.h"
#include "ops/aes/xts_cipher.h"

namespace hoist::aes {
namespace {

constexpr char kVersion[] = HOIST_VERSION;

// One loaded instance.
struct Provider {
  size_t threshold = 0;  // 0: each mode's own
  bool active = false;
};

constexpr bool is_aead(Mode mode) { return mode == Mode::gcm || mode == Mode::chacha20_poly1305; }

// Functions of provider-cipher(7) for the algorithm kAlgorithms[Index].
template <size_t Index>
struct CipherTable {
  static constexpr Mode kMode = kAlgorithms[Index].mode;
  using Class = std::conditional_t<is_aead(kMode), AeadCipher,
                                   std::conditional_t<kMode == Mode::xts, XtsCipher, BlockCipher>>;

  static const CipherFunctions& inner() { return default_functions(kAlgorithms[Index]); }
  static Class& of(void* context) { return *static_cast<Class*>(context); }
  static Bytes bytes(const unsigned char* data, size_t size) {
    return {data, data != nullptr ? size : 0};
  }

  static void* checked(Class* made) {
    if (made != nullptr && made->valid()) return made;
    delete made;
    return nullptr;
  }
  static void* newctx(void* provider) {
    return checked(new (std::nothrow)
                       Class(kAlgorithms[Index], static_cast<Provider*>(provider)->threshold));
  }
  static void* dupctx(void* context) {
    return checked(new (std::nothrow) Class(std::as_const(of(context))));
  }
  static void freectx(void* context) { delete static_cast<Class*>(context); }

  static int encrypt_init(void* context, const unsigned char* key, size_t key_size,
                          const unsigned char* iv, size_t iv_size, const OSSL_PARAM params[]) {
    return of(context).start(true, bytes(key, key_size), bytes(iv, iv_size), params);
  }
  static int decrypt_init(void* context, const unsigned char* key, size_t key_size,
                          const unsigned char* iv, size_t iv_size, const OSSL_PARAM params[]) {
    return of(context).start(false, bytes(key, key_size), bytes(iv, iv_size), params);
  }
  static int update(void* context, unsigned char* out, size_t* written, size_t room,
                    const unsigned char* in, size_t size) {
    return of(context).update({out, written, room, in, size});
  }
  static int final(void* context, unsigned char* out, size_t* written, size_t room) {
    return of(context).final(out, written, room);
  }
  static int cipher(void* context, unsigned char* out, size_t* written, size_t room,
                    const unsigned char* in, size_t size) {
    return of(context).cipher({out, written, room, in, size});
  }
  static int get_ctx_params(void* context, OSSL_PARAM params[]) {
    return of(context).get_params(params);
  }
  static int set_ctx_params(void* context, const OSSL_PARAM params[]) {
    return of(context).set_params(params);
  }
  static const OSSL_PARAM* gettable_params(void*) {
    return inner().gettable_params(inner().provider);
  }
  static const OSSL_PARAM* gettable_ctx_params(void* context, void*) {
    return inner().gettable_ctx_params(context != nullptr ? of(context).inner() : nullptr,
                                       inner().provider);
  }
  static const OSSL_PARAM* settable_ctx_params(void* context, void*) {
    return inner().settable_ctx_params(context != nullptr ? of(context).inner() : nullptr,
                                       inner().provider);
  }

  static const OSSL_DISPATCH* table() {
    static const auto erased = [](auto* function) {
      return reinterpret_cast<void (*)()>(function);
    };
    static const OSSL_DISPATCH entries[] = {
        {OSSL_FUNC_CIPHER_NEWCTX, erased(newctx)},
        {OSSL_FUNC_CIPHER_FREECTX, erased(freectx)},
        {OSSL_FUNC_CIPHER_DUPCTX, erased(dupctx)},
        {OSSL_FUNC_CIPHER_ENCRYPT_INIT, erased(encrypt_init)},
        {OSSL_FUNC_CIPHER_DECRYPT_INIT, erased(decrypt_init)},
        {OSSL_FUNC_CIPHER_UPDATE, erased(update)},
        {OSSL_FUNC_CIPHER_FINAL, erased(final)},
        {OSSL_FUNC_CIPHER_CIPHER, erased(cipher)},
        {OSSL_FUNC_CIPHER_GET_PARAMS, erased(inner().get_params)},
        {OSSL_FUNC_CIPHER_GET_CTX_PARAMS, erased(get_ctx_params)},
        {OSSL_FUNC_CIPHER_SET_CTX_PARAMS, erased(set_ctx_params)},
        {OSSL_FUNC_CIPHER_GETTABLE_PARAMS, erased(gettable_params)},
        {OSSL_FUNC_CIPHER_GETTABLE_CTX_PARAMS, erased(gettable_ctx_params)},
        {OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS, erased(settable_ctx_params)},
        {0, nullptr}};
    return entries;
  }
};

// Algorithms that the default provider lacks (another OpenSSL, another build) are not offered.
const OSSL_ALGORITHM* all_ciphers() {
  using Ciphers = std::array<OSSL_ALGORITHM, kAlgorithms.size() + 1>;
  static const Ciphers ciphers = []<size_t... Index>(std::index_sequence<Index...>) {
    Ciphers offered = {};
    size_t count = 0;
    const auto offer = [&](const CipherFunctions& inner, const OSSL_DISPATCH* (*table)()) {
      if (inner.complete()) offered[count++] = {inner.names, "provider=hoist", table(), nullptr};
    };
    (offer(CipherTable<Index>::inner(), CipherTable<Index>::table), ...);
    return offered;
  }
  (std::make_index_sequence<kAlgorithms.size()>());
  return ciphers.data();
}

const OSSL_ALGORITHM* query_operation(void* context, int operation, int* no_cache) {
  *no_cache = 0;
  if (operation != OSSL_OP_CIPHER || !static_cast<Provider*>(context)->active) return nullptr;
  return all_ciphers();
}

const OSSL_PARAM* gettable_params(void*) {
  static const OSSL_PARAM params[] = {
      OSSL_PARAM_DEFN(OSSL_PROV_PARAM_NAME, OSSL_PARAM_UTF8_PTR, nullptr, 0),
      OSSL_PARAM_DEFN(OSSL_PROV_PARAM_VERSION, OSSL_PARAM_UTF8_PTR, nullptr, 0),
      OSSL_PARAM_DEFN(OSSL_PROV_PARAM_BUILDINFO, OSSL_PARAM_UTF8_PTR, nullptr, 0),
      OSSL_PARAM_DEFN(OSSL_PROV_PARAM_STATUS, OSSL_PARAM_INTEGER, nullptr, sizeof(int)),
      OSSL_PARAM_END};
  return params;
}

int get_params(void* context, OSSL_PARAM params[]) {
  const std::pair<const char*, const char*> texts[] = {
      {OSSL_PROV_PARAM_NAME, "Hoist provider"},
      {OSSL_PROV_PARAM_VERSION, kVersion},
      {OSSL_PROV_PARAM_BUILDINFO,
       static_cast<Provider*>(context)->active ? kVersion : "standing aside"}};
  for (const auto& [name, text] : texts) {
    OSSL_PARAM* const param = OSSL_PARAM_locate(params, name);
    if (param != nullptr && OSSL_PARAM_set_utf8_ptr(param, text) != 1) return 0;
  }
  OSSL_PARAM* const status = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_STATUS);
  return status == nullptr || OSSL_PARAM_set_int(status, 1) == 1;
}

void teardown(void* context) { delete static_cast<Provider*>(context); }

// Whether the program's libcrypto, which calls us, is the one that we call. A program may bring its
// own (linked statically, another version): what the default provider of ours did, and the errors
// that it told, would not be those of the program's.
bool is_our_libcrypto(void (*core_function)()) {
  Dl_info core;
  Dl_info ours;
  return ::dladdr(reinterpret_cast<void*>(core_function), &core) != 0 &&
         ::dladdr(reinterpret_cast<void*>(&OSSL_PROVIDER_query_operation), &ours) != 0 &&
         core.dli_fbase == ours.dli_fbase;
}

size_t configured_threshold(const OSSL_CORE_HANDLE* core, OSSL_FUNC_core_get_params_fn* get) {
  char* text = nullptr;
  OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_ptr("threshold", &text, 0),
                         OSSL_PARAM_construct_end()};
  if (get(core, params) != 1 || text == nullptr) return 0;
  size_t threshold = 0;
  std::from_chars(text, text + std::strlen(text), threshold);
  return threshold;
}

}  // namespace

int initialise_provider(const OSSL_CORE_HANDLE* core, const OSSL_DISPATCH* core_functions,
                        const OSSL_DISPATCH** functions, void** context) try {
  static const OSSL_DISPATCH table[] = {
      {OSSL_FUNC_PROVIDER_TEARDOWN, reinterpret_cast<void (*)()>(teardown)},
      {OSSL_FUNC_PROVIDER_GETTABLE_PARAMS, reinterpret_cast<void (*)()>(gettable_params)},
      {OSSL_FUNC_PROVIDER_GET_PARAMS, reinterpret_cast<void (*)()>(get_params)},
      {OSSL_FUNC_PROVIDER_QUERY_OPERATION, reinterpret_cast<void (*)()>(query_operation)},
      {0, nullptr}};
  Provider* const provider = new (std::nothrow) Provider;
  if (provider == nullptr) return 0;
  for (; core_functions->function_id != 0; ++core_functions) {
    if (core_functions->function_id != OSSL_FUNC_CORE_GET_PARAMS) continue;
    provider->active = is_enabled() && is_our_libcrypto(core_functions->function);
    provider->threshold = configured_threshold(core, OSSL_FUNC_core_get_params(core_functions));
  }
  *functions = table;
  *context = provider;
  return 1;
} catch (...) {  // no memory
  return 0;
}

}  // namespace hoist::aes
