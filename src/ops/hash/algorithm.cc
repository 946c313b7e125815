#include "ops/hash/algorithm.h"

#include <iterator>

namespace hoist::hash {
namespace {

// In the order of the enumeration.
constexpr AlgorithmInfo kAlgorithms[] = {
    {Algorithm::bsd, "bsd", "BSD", "", 2},
    {Algorithm::sysv, "sysv", "SYSV", "", 2},
    {Algorithm::crc, "crc", "CRC", "", 4},
    {Algorithm::md5, "md5", "MD5", "md5sum", 16},
    {Algorithm::sha1, "sha1", "SHA1", "sha1sum", 20},
    {Algorithm::sha224, "sha224", "SHA224", "sha224sum", 28},
    {Algorithm::sha256, "sha256", "SHA256", "sha256sum", 32},
    {Algorithm::sha384, "sha384", "SHA384", "sha384sum", 48},
    {Algorithm::sha512, "sha512", "SHA512", "sha512sum", 64},
    {Algorithm::blake2b, "blake2b", "BLAKE2b", "b2sum", 64},
    {Algorithm::sm3, "sm3", "SM3", "", 32},
};

const AlgorithmInfo* find(std::string_view name, const char* AlgorithmInfo::*field) {
  if (name.empty()) return nullptr;
  for (const AlgorithmInfo& entry : kAlgorithms) {
    if (name == entry.*field) return &entry;
  }
  return nullptr;
}

}  // namespace

const AlgorithmInfo& info(Algorithm algorithm) {
  return kAlgorithms[static_cast<size_t>(algorithm)];
}

const AlgorithmInfo* find_by_option(std::string_view option) {
  return find(option, &AlgorithmInfo::option);
}

const AlgorithmInfo* find_by_tag(std::string_view tag) { return find(tag, &AlgorithmInfo::tag); }

const AlgorithmInfo* find_by_program(std::string_view program) {
  return find(program, &AlgorithmInfo::program);
}

}  // namespace hoist::hash
