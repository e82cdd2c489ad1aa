#include "dialects/ccw_loop/options.h"

#include <limits>

namespace baton::ccw_loop {

Options options_of(const Json& given_options) {
  const Value& given = *given_options;
  Options options;
  if (const auto path = json::text(given, "path"); path && !path->empty())
    options.path = *path;
  while (options.path.size() > 1 && options.path.ends_with('/'))
    options.path.pop_back();
  if (json::text(given, "granularity") == "action")
    options.granularity = Granularity::action;
  if (const auto grace = parse_duration(json::text(given, "pause_grace").value_or("")))
    options.pause_grace = *grace;
  const auto limit = json::text(given, "on_max_iterations").value_or("complete");
  options.on_max_iterations = limit == "fail"     ? AtLimit::fail
                              : limit == "pause"  ? AtLimit::pause
                              : limit == "ignore" ? AtLimit::ignore
                                                  : AtLimit::complete;
  const auto no_tests = json::text(given, "no_tests").value_or("pause");
  options.no_tests = no_tests == "pass"   ? NoTests::pass
                     : no_tests == "fail" ? NoTests::fail
                                          : NoTests::pause;
  if (const auto most = json::integer(given, "max_debug");
      most && *most > 0 && *most <= std::numeric_limits<std::uint32_t>::max())
    options.max_debug = static_cast<std::uint32_t>(*most);
  options.tee_debug = json::boolean(given, "tee_debug").value_or(false);
  options.interactive = json::text(given, "mode") == "interactive";
  return options;
}

}  // namespace baton::ccw_loop
