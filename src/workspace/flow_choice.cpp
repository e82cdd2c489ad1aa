#include "workspace/flow_choice.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"

namespace baton {
namespace {

Result<FlowId> choose_flow(const std::string& name, const std::set<FlowId>& known) {
  std::vector<FlowId> fits;
  std::vector<std::string> names;
  std::vector<std::string> short_names;
  for (const FlowId& flow : known) {
    if (text(flow) == name)
      return flow;
    short_names.push_back(flow.name);
    if (flow.name == name)
      fits.push_back(flow);
    names.push_back(text(flow));
  }
  if (fits.size() == 1)
    return fits.front();
  constexpr std::size_t kMost = 20;
  std::string message;
  if (!fits.empty()) {
    names.clear();
    names.reserve(fits.size());
    for (const FlowId& flow : fits)
      names.push_back(text(flow));
    message = "there are several flows called " + printable(name, 100) + ": ";
  } else {
    auto near = nearest(name, names);
    if (!near)
      near = nearest(name, short_names);
    message = "there is no flow " + printable(name, 100);
    if (near)
      return fail(Errc::usage, message + "; did you mean " + *near + "?");
    message += names.empty() ? "; there is none at all" : "; there are ";
  }
  const std::size_t more = names.size() > kMost ? names.size() - kMost : 0;
  names.resize(names.size() - more);
  return fail(Errc::usage, message + printable(join(names, ", "), 4096) +
                               (more > 0 ? " and " + std::to_string(more) + " more" : ""));
}

}  // namespace

Result<FlowPlace> choose_flow(const std::string& name, const std::vector<KnownFlows>& known) {
  std::set<FlowId> all;
  for (const KnownFlows& root : known)
    all.insert(root.flows.begin(), root.flows.end());
  auto flow = choose_flow(name, all);
  if (!flow)
    return pass_on(flow);
  std::vector<std::string> roots;
  FlowPlace place{0, *flow};
  for (std::size_t i = 0; i < known.size(); ++i)
    if (std::find(known[i].flows.begin(), known[i].flows.end(), *flow) != known[i].flows.end()) {
      roots.push_back(known[i].root);
      place.root = i;
    }
  if (roots.size() > 1)
    return fail(Errc::usage, "there is a flow " + printable(text(*flow), 200) +
                                 " on several roots; name one with --root: " +
                                 printable(join(roots, ", "), 4096));
  return place;
}

Error not_found_among(Error error, bool hidden) {
  if (!hidden || error.code != Errc::usage)
    return error;
  error.message.insert(0, "among the roots that can be seen ");
  error.code = Errc::denied;
  return error;
}

}  // namespace baton
