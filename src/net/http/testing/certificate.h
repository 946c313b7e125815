// A certificate made at run time, for tests.
#pragma once

#include <string>

namespace hoist::net::testing_http {

struct CertificateFiles {
  std::string certificate;
  std::string key;
};

// Writes FOLDER/NAME.pem and FOLDER/NAME.key: self-signed, for localhost; `name` is its common
// name.
CertificateFiles write_certificate(const std::string& folder, const std::string& name);

}  // namespace hoist::net::testing_http
