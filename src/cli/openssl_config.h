// The configuration by which OpenSSL in a program finds Hoist's provider
// (docs/reference/provider.md).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hoist::cli {

// The file that OPENSSL_CONF must name for programs. It includes the configuration that they would
// read by themselves (OPENSSL_CONF, else the system's openssl.cnf), and adds the provider
// `provider` beside the default one, preferred where it offers an algorithm ("?provider=hoist").
//
// The file is made in `folder`, which nobody else may write to, under a name that stands for that
// configuration and provider in their present state: the next call finds it and costs two system
// calls. It stays: programs look for it at any time, also when `hoist run` has long been replaced
// by one.
//
// `unsupported`, with the reason, where the program's own configuration decides things that ours
// would change: other providers, FIPS, its own property query, or parts that we do not follow
// (included files, continued lines, variables).
Result<std::string> openssl_configuration(const std::string& folder, const std::string& provider);

// Whether a file of that folder is such a configuration, by its name.
bool is_openssl_configuration(std::string_view name);

// What is added to a configuration with this `text`; `include` is its path, empty where there is
// none.
Result<std::string> merged_openssl_configuration(const std::string& text,
                                                 const std::string& include,
                                                 const std::string& provider);

}  // namespace hoist::cli
