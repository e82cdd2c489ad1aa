#include "dialects/agent_run/agent_run.h"
#include "dialects/agent_run/snapshot.h"

namespace baton::agent_run {

std::vector<Create> rebuild(const View& view) {
  const Scene scene(view);
  if (scene.state == nullptr || !scene.memo.driven)
    return {};
  return {Create{scene.places.state(), scene.state->document->text(),
                 "from the last version that was accepted"}};
}

}  // namespace baton::agent_run
