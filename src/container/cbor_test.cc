#include "container/cbor.h"

#include <gtest/gtest.h>

#include "container/format.h"

namespace hoist::container {
namespace {

TEST(Cbor, RoundTrip) {
  CborWriter out;
  out.array(4);
  const uint64_t numbers[] = {0, 23, 24, 255, 256, 65535, 65536, 4294967295, 4294967296, ~0ull};
  out.array(std::size(numbers));
  for (const uint64_t number : numbers) out.number(number);
  out.map(1);
  out.text("key");
  out.text(std::string(300, 'x'));
  out.bytes(as_bytes("bytes"));
  out.number(-0.25);
  CborReader in(as_bytes(out.result()));
  EXPECT_EQ(in.array(), 4u);
  EXPECT_EQ(in.array(), std::size(numbers));
  for (const uint64_t number : numbers) EXPECT_EQ(in.number(), number);
  EXPECT_EQ(in.map(), 1u);
  EXPECT_EQ(in.text(), "key");
  EXPECT_EQ(in.text(), std::string(300, 'x'));
  EXPECT_EQ(in.bytes().size(), 5u);
  EXPECT_EQ(in.real(), -0.25);
  EXPECT_TRUE(in.ok() && in.at_end());
  CborReader skipping(as_bytes(out.result()));
  skipping.skip();
  EXPECT_TRUE(skipping.ok() && skipping.at_end());
}

TEST(Cbor, WhatIsNotThereIsRemembered) {
  for (const std::string_view bytes : {"", "\x81", "\x9f\x01\xff", "\x5a\xff\xff\xff\xff", "\x1c",
                                       "\xbb\xff\xff\xff\xff\xff\xff"}) {
    CborReader in(as_bytes(bytes));
    in.skip();
    EXPECT_FALSE(in.ok() && in.at_end());
  }
  CborReader wrong(as_bytes("\x01"));
  EXPECT_EQ(wrong.text(), "");
  EXPECT_FALSE(wrong.ok());
  const std::string nested(100'000, '\x81');
  CborReader deep(as_bytes(nested));
  deep.skip();
  EXPECT_FALSE(deep.ok());
  const std::string claim("\x9b\0\0\0\1\0\0\0\0", 9);
  CborReader many(as_bytes(claim));
  EXPECT_EQ(many.array(), 0u);
  EXPECT_FALSE(many.ok());
}

}  // namespace
}  // namespace hoist::container
