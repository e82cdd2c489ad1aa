// SPDX-License-Identifier: Apache-2.0
#pragma once

// What completions read: configuration, names of files, journal. Nothing is read before it is asked
// for. What cannot be read is left out without a word.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pinned.h"
#include "core/dialect.h"
#include "core/event.h"
#include "core/run.h"
#include "engine/state/flow_record.h"
#include "workspace/context.h"
#include "workspace/history.h"
#include "workspace/options.h"
#include "workspace/rehearsal.h"

namespace baton {

class CompletionSources : private Pinned {
 public:
  /// Keeps references to both.
  CompletionSources(std::string_view command, const CompletionPlace& place)
      : command_(command), place_(place) {}

  std::string_view command() const { return command_; }
  const CompletionPlace& place() const { return place_; }

  /// nullptr: there is none that can be used.
  const Context* context();
  /// The configured dialects with their options.
  std::vector<std::pair<const Dialect*, Json>> configured();
  /// The known flows of each root: those with files, and with `gone` also those of the journal.
  std::vector<KnownFlows> flows(bool gone);
  /// The flow that the first argument names, and what the journal of its root has of it.
  std::optional<std::pair<FlowId, FlowRecord>> named_flow();
  /// The last runs and events of each root.
  std::vector<Run> runs(const std::string& id_prefix);
  std::vector<Event> events();

 private:
  std::vector<History> histories();

  std::string_view command_;
  const CompletionPlace& place_;
  std::optional<Result<Context>> context_;
};

}  // namespace baton
