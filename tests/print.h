// SPDX-License-Identifier: Apache-2.0
#pragma once

// How our types read in a failed check.

#include <string>

#include <doctest/doctest.h>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/result.h"

namespace doctest {

template <>
struct StringMaker<baton::Json> {
  static String convert(const baton::Json& value) { return value.dump().c_str(); }
};

template <>
struct StringMaker<baton::Error> {
  static String convert(const baton::Error& error) { return baton::describe(error).c_str(); }
};

template <>
struct StringMaker<baton::Position> {
  static String convert(const baton::Position& position) {
    return (std::to_string(position.line) + ":" + std::to_string(position.column) + "@" +
            std::to_string(position.offset))
        .c_str();
  }
};

}  // namespace doctest
