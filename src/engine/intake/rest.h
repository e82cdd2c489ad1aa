// SPDX-License-Identifier: Apache-2.0
#pragma once

// How long a version of a file has to stand before it counts.
// A file system does not say that a writer is done. A name that just appeared may be a temporary
// file of a tool. Where no events come (polled roots), a look may find half of a file. So such
// versions have to stand for a moment. What was renamed into place, and what an agent wrote that
// has ended since, counts at once.

#include <optional>

#include "base/json/document.h"
#include "base/time.h"

namespace baton {

/// The version counts when it has stood for `stand`. If the file changes all the time, its version
/// after `most` counts.
struct Rest {
  Millis stand{0};
  Millis most{0};
  bool operator==(const Rest&) const = default;
};

/// What is known of a version, right after it was read.
struct FoundVersion {
  Format format = Format::json;
  bool parsed = true;     ///< false: more bytes may mend it
  bool fresh = false;     ///< no version of the file is in force, or the file was gone
  bool complete = false;  ///< it was seen to be renamed into place
  bool polled = false;    ///< no event says when a file of this root is closed
  bool left = false;      ///< a run of its flow has just ended
  /// The name would be that of a copy of another file, which is not there now.
  bool copy = false;
  Millis age{0};  ///< since the last change of file or name; negative: by another clock
};

/// Nothing: the version counts at once.
std::optional<Rest> rest_of(const FoundVersion& version);

}  // namespace baton
