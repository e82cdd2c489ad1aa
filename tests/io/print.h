// SPDX-License-Identifier: Apache-2.0
#pragma once

// How doctest prints our types.

#include <string>

#include <doctest/doctest.h>

#include "base/result.h"

namespace doctest {

template <>
struct StringMaker<baton::Errc> {
  static String convert(baton::Errc code) {
    return ("Errc " + std::to_string(static_cast<int>(code))).c_str();
  }
};

}  // namespace doctest
