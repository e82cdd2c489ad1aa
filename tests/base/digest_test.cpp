// SPDX-License-Identifier: Apache-2.0
#include "base/digest.h"

#include <doctest/doctest.h>

namespace baton {

TEST_CASE("the digest of nothing is the one XXH3 documents") {
  CHECK(hex(digest_of("")) == "99aa06d3014798d86001c324468d497f");
}

TEST_CASE("a digest survives being written and read") {
  const Digest digest = digest_of("some bytes");
  CHECK(parse_digest(hex(digest)) == digest);
  CHECK(digest != digest_of("some bytes "));
}

TEST_CASE("what is not 32 lower-case hexadecimal digits is no digest") {
  CHECK_FALSE(parse_digest(""));
  CHECK_FALSE(parse_digest("99aa06d3014798d86001c324468d497"));
  CHECK_FALSE(parse_digest("99aa06d3014798d86001c324468d497g"));
  CHECK_FALSE(parse_digest("99AA06d3014798d86001c324468d497f"));
}

}  // namespace baton
