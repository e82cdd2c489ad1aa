// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/json/document.h"
#include "core/catalog.h"
#include "core/dialect.h"
#include "engine/perform/start_command.h"

namespace baton::testing {

/// One flow as the engine would show it to its dialect, without runs unless some are put in.
struct Stand {
  FlowId flow;
  FlowState docs;
  std::map<Subject, StageState> stages;
  std::vector<Run> runs;
  Json memo;
  std::vector<Request> requests;
  Json options = Json::object();
  Environment env{"/root", "/root", "/usr/bin/baton", {}, {}};
  Time wall{};
  Arrival arrival = 0;

  View view() const {
    return View{flow, docs, stages, runs, memo, requests, options, env, wall, wall};
  }
  void put(const Catalog& catalog, const std::string& path, const std::string& text) {
    const auto match = catalog.match(path);
    REQUIRE_MESSAGE(match, path);
    auto document = load_document(text, match->kind->format);
    REQUIRE_MESSAGE(document, path);
    docs[path] = Accepted{*document, match->kind->kind, match->part, ++arrival, {}, true, {}};
    flow = match->flow;
  }
};

/// What an agent without a prompt of its own is told.
inline std::string prompt_of(const Dialect& dialect, const View& view, const Desired& desired) {
  Start start;
  start.key.flow = {std::string(dialect.name), view.flow.name};
  start.key.role = desired.role;
  start.key.subject = desired.subject;
  start.desired = desired;
  const auto launch = make_launch(start, AgentSpec{}, dialect.brief(view, desired), view.env);
  REQUIRE_MESSAGE(launch, launch.error().message);
  return launch->prompt;
}

}  // namespace baton::testing
