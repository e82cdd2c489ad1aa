// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "base/json/document.h"
#include "dialects/fsm_loop/definition.h"
#include "dialects/fsm_loop/loop.h"

namespace baton::testing {

/// A library of YAML texts by path; an empty text stands for a file that is not there.
inline fsm_loop::Library library_with(const std::map<std::string, std::string>& files) {
  fsm_loop::Library library;
  for (const auto& file : files) {
    const std::string& path = file.first;
    const std::string& text = file.second;
    if (text.empty()) {
      library.files.emplace(path, nullptr);
      continue;
    }
    auto document = load_document(text, Format::yaml);
    CAPTURE(path);
    REQUIRE(document);
    library.files.emplace(path, std::move(*document));
  }
  return library;
}

/// The loop of a text that has no error.
inline fsm_loop::Loop loop_from(const std::string& text) {
  const auto library = library_with({{".loops/x.yaml", text}});
  const fsm_loop::Loaded loaded = fsm_loop::load(".loops/x.yaml", library);
  CAPTURE(text);
  REQUIRE_MESSAGE(loaded.definition, loaded.error);
  return fsm_loop::loop_of(**loaded.definition);
}

inline Json json_from(const std::string& text) {
  auto parsed = parse_json(text);
  REQUIRE_MESSAGE(parsed, text);
  return std::move(*parsed);
}

}  // namespace baton::testing
