#include "cli/openssl_config.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace hoist::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kProvider[] = "/opt/hoist/lib/ossl-modules/hoist.so";

std::string merged(const std::string& text) {
  const Result<std::string> result = merged_openssl_configuration(text, "/etc/own.cnf", kProvider);
  return result ? *result : "aside: " + result.error().message;
}

TEST(OpensslConfig, AddsToNothing) {
  EXPECT_EQ(*merged_openssl_configuration("", "", kProvider),
            "[default]\nopenssl_conf = hoist_configuration\n"
            "[hoist_configuration]\nproviders = hoist_providers\n"
            "[hoist_providers]\ndefault = hoist_default_provider\n"
            "[hoist_default_provider]\nactivate = 1\n"
            "[hoist_providers]\nhoist = hoist_provider\n"
            "[hoist_provider]\nmodule = /opt/hoist/lib/ossl-modules/hoist.so\nsoft_load = 1\n"
            "activate = 1\n"
            "[hoist_configuration]\nalg_section = hoist_algorithms\n"
            "[hoist_algorithms]\ndefault_properties = ?provider=hoist\n");
}

TEST(OpensslConfig, UsesTheSectionsThatAreThere) {
  EXPECT_EQ(merged("openssl_conf = init  # comment\n[ init ]\nproviders=list\nalg_section = algs\n"
                   "ssl_conf = ssl\n[list]\ndefault = usual\nlegacy = old\n"
                   "[usual]\nactivate = 1\n[old]\nactivate = 1\n[algs]\n"),
            ".include /etc/own.cnf\n"
            "[usual]\nactivate = 1\n"
            "[list]\nhoist = hoist_provider\n"
            "[hoist_provider]\nmodule = /opt/hoist/lib/ossl-modules/hoist.so\nsoft_load = 1\n"
            "activate = 1\n"
            "[algs]\ndefault_properties = ?provider=hoist\n");
}

TEST(OpensslConfig, StepsAside) {
  const std::string start = "openssl_conf = init\n[init]\nproviders = list\nalg_section = algs\n";
  EXPECT_EQ(merged(start + "[list]\nfips = fips\n"),
            "aside: the OpenSSL configuration has provider fips");
  EXPECT_EQ(merged(start + "[list]\nlegacy = old\n[old]\nactivate = 1\n"),
            "aside: the OpenSSL configuration does without the default provider");
  EXPECT_EQ(merged(start + "[algs]\ndefault_properties = fips=yes\n"),
            "aside: the OpenSSL configuration sets default_properties");
  EXPECT_EQ(merged(start + "[algs]\nfips_mode = yes\n"),
            "aside: the OpenSSL configuration sets fips_mode");
  EXPECT_EQ(merged(start + ".include /etc/ssl/openssl.cnf\n"),
            "aside: the OpenSSL configuration includes other files");
  EXPECT_EQ(merged("openssl_conf = $ENV::INIT\n"),
            "aside: the OpenSSL configuration has a openssl_conf that Hoist cannot follow");
  EXPECT_EQ(merged("a = b \\\n c\n"), "aside: the OpenSSL configuration has continued lines");
  EXPECT_EQ(merged("# b \\\n[c]\n"), "aside: the OpenSSL configuration has continued lines");
  EXPECT_EQ(merged(start + "algs::default_properties = fips=yes\n"),
            "aside: the OpenSSL configuration sets values of other sections");
  EXPECT_EQ(merged(start + "[ algs ] x ]\ndefault_properties = fips=yes\n"),
            "aside: the OpenSSL configuration has a section that Hoist cannot read");
  EXPECT_EQ(
      merged(start + "[list]\ndefault = usual\n[usual]\nactivate = 0\n"),
      "aside: the OpenSSL configuration activates provider default in a way that Hoist cannot "
      "follow");
  for (const char* path : {"/a\"b/hoist.so", "/a\\b/hoist.so", "/a\nb/hoist.so"}) {
    EXPECT_FALSE(merged_openssl_configuration("", "", path)) << path;
    EXPECT_FALSE(merged_openssl_configuration("", path, kProvider)) << path;
  }
}

TEST(OpensslConfig, QuotesOddPaths) {
  const std::string text = *merged_openssl_configuration("", "/it's $own #1.cnf", "/a b/hoist.so");
  EXPECT_EQ(text.find(".include \"/it's $own #1.cnf\"\n"), 0u);
  EXPECT_NE(text.find("\nmodule = \"/a b/hoist.so\"\n"), std::string::npos);
}

TEST(OpensslConfig, FileIsMadeOnce) {
  char folder[] = "/tmp/hoist-openssl-config-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string own = std::string(folder) + "/own.cnf";
  const std::string provider = std::string(folder) + "/hoist.so";
  std::ofstream(own) << "a = b\n";
  ::setenv("OPENSSL_CONF", own.c_str(), 1);
  EXPECT_FALSE(openssl_configuration(folder, provider));  // no such provider
  std::ofstream(provider) << "x";
  const Result<std::string> first = openssl_configuration(folder, provider);
  ASSERT_TRUE(first) << first.error().message;
  std::stringstream text;
  text << std::ifstream(*first).rdbuf();
  EXPECT_EQ(text.str().find(".include " + own + "\n"), 0u);
  EXPECT_EQ(*openssl_configuration(folder, provider), *first);
  ::setenv("OPENSSL_CONF", first->c_str(), 1);
  EXPECT_EQ(*openssl_configuration(folder, provider), *first);
  ::setenv("OPENSSL_CONF", own.c_str(), 1);
  std::ofstream(own) << "a = longer\n";
  EXPECT_NE(*openssl_configuration(folder, provider), *first);
  ::setenv("OPENSSL_CONF", "/dev/null", 1);
  EXPECT_FALSE(openssl_configuration(folder, provider));
  ::unsetenv("OPENSSL_CONF");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace hoist::cli
