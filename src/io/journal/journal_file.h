#pragma once

#include <string>

#include "base/result.h"

namespace baton {

/// The end of every message about a journal that cannot be used.
inline constexpr const char* kBeginAnew =
    "; bring it back from a backup, or move the state folder away to begin anew: then what is due "
    "is started once more";

enum class JournalUse { read, write };

/// Looks at the journal's file before SQLite does, which would take an empty one for a new one.
/// Errc::not_found: there is none, and none was lost. Errc::io: it was cut, or it is gone or empty
/// while folders of its runs are there: without it every one of them would be started again.
/// Errc::not_regular, denied.
Result<void> look_at_journal(const std::string& state_folder, JournalUse use);

}  // namespace baton
