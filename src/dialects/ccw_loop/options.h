#pragma once

#include <cstdint>
#include <string>

#include "base/json/json.h"
#include "base/time.h"

namespace baton::ccw_loop {

/// run: the executor goes on by itself until it leaves; action: one process for each action.
enum class Granularity { run, action };
/// At the limit of iterations. complete: one more action for the summary, then failed.
enum class AtLimit { complete, fail, pause, ignore };
/// When a validation has run no test.
enum class NoTests { pause, pass, fail };

/// The options of the dialect (schemas/ccw_loop/options.schema.json), defaults filled in.
struct Options {
  std::string path = ".workflow/.loop";
  Granularity granularity = Granularity::run;
  Millis pause_grace{60'000};
  AtLimit on_max_iterations = AtLimit::complete;
  NoTests no_tests = NoTests::pause;
  std::uint32_t max_debug = 5;  ///< debug actions in a row
  bool tee_debug = false;       ///< records for debug.log are looked for in what executors print
  bool interactive = false;     ///< mode of loops that do not say themselves
};
/// Options that are missing or make no sense are as by default; the configuration's own check says
/// what is wrong.
Options options_of(const Json& given_options);

}  // namespace baton::ccw_loop
