#include "net/http/testing/certificate.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdio>
#include <memory>

namespace hoist::net::testing_http {

CertificateFiles write_certificate(const std::string& folder, const std::string& name) {
  const CertificateFiles files = {folder + name + ".pem", folder + name + ".key"};
  const std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key(::EVP_EC_gen("P-256"),
                                                                  &::EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&::X509_free)> certificate(::X509_new(), &::X509_free);
  ::X509_set_version(certificate.get(), 2);
  ::ASN1_INTEGER_set(::X509_get_serialNumber(certificate.get()), 1);
  ::X509_gmtime_adj(::X509_getm_notBefore(certificate.get()), -3600);
  ::X509_gmtime_adj(::X509_getm_notAfter(certificate.get()), 3600);
  X509_NAME* subject = ::X509_get_subject_name(certificate.get());
  ::X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  ::X509_set_issuer_name(certificate.get(), subject);
  ::X509_set_pubkey(certificate.get(), key.get());
  EXPECT_GT(::X509_sign(certificate.get(), key.get(), ::EVP_sha256()), 0);
  const auto write = [](const std::string& path, auto&& put) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    EXPECT_TRUE(file && put(file) == 1) << path;
    if (file) std::fclose(file);
  };
  write(files.certificate,
        [&](std::FILE* file) { return ::PEM_write_X509(file, certificate.get()); });
  write(files.key, [&](std::FILE* file) {
    return ::PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  return files;
}

}  // namespace hoist::net::testing_http
