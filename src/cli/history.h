#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/context.h"
#include "io/journal_reader.h"

namespace baton {

/// The journal of the root. Errc::not_found when no daemon has served it yet.
Result<std::unique_ptr<JournalReader>> history_of(const Context& context);

/// The flow somebody means, among those the journal knows. Errc::usage with the list.
Result<FlowId> flow_in(JournalReader& journal, const std::string& name);

}  // namespace baton
