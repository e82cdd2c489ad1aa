// SPDX-License-Identifier: Apache-2.0
#pragma once

// The words that may stand at a place of a command line, for the completions of shells.
//
// Problem: a person presses TAB and waits, with half a line on the screen.
// Way: names come from the configuration, from the names of files and from the journal. No state
// file is read and judged, so this is much faster than `baton status`.
// Limits: works with and without a daemon. What cannot be read is left out without a word.

#include <string>
#include <string_view>
#include <vector>

#include "workspace/options.h"

namespace baton {

/// One word, and what it means in a few words (may be empty).
struct CompletionValue {
  std::string word;
  std::string about;
};

/// What a shell adds by itself.
enum class CompletionFiles { none, files, folders };

/// What may stand at one place. Words are whole, with the `lead` of the place.
struct CompletionOffer {
  CompletionFiles files = CompletionFiles::none;
  std::vector<CompletionValue> values;
};

/// What may stand at this place of a command. Words that a terminal cannot show, and those that a
/// command would take for an option, are left out.
CompletionOffer completion_offer(std::string_view command, const CompletionPlace& place);

}  // namespace baton
