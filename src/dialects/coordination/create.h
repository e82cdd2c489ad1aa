#pragma once

#include "core/dialect.h"

namespace baton::coordination {

/// For `init` and `start`: the files that are missing, empty but valid; with `requirements` among
/// the arguments they become the session's. Files that are there stay and mean "resume this
/// session". Errc::usage when requirements are given for a session that has its own.
Result<std::vector<Update>> create(const Request& request, const View& view);

/// The text of a mailbox with a message more. What the sender leaves out is filled in: `id`,
/// `from`, `to`, `timestamp`, `read: false`. Errc::usage when `kind` is no mailbox, the message is
/// no object, has no group, or claims to be from or to somebody else; Errc::schema when the mailbox
/// has no list. Aliases (words.h) are understood, and written as the words they stand for.
Result<std::string> with_message(const Document& document, std::string_view kind,
                                 const Value& given, Time wall);

}  // namespace baton::coordination
