// SPDX-License-Identifier: Apache-2.0
#pragma once

// Control commands and the daemon talk through files in the state folder: a request is
// `requests/<id>.json`, its answer `replies/<id>.json`. Both appear complete, by rename. Answers
// are removed after an hour. The file `requests/.reserve` only takes up space: a command or a
// daemon that finds the disk full removes it, so that agents can still be stopped.
//
//   {"id", "verb", "dialect", "flow", "subject", "arguments": {...}, "made"}
//   {"request", "accepted", "message"}
//
// Who asks is not in the file. The command holds a POSIX lock on it until it has the answer, and
// the daemon asks the kernel which process that is (asker.h). `by` is the owner of the file.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/event.h"
#include "core/ports.h"
#include "io/files/fd.h"

namespace baton {

/// Creates both folders if they are missing.
Result<std::unique_ptr<Requests>> real_requests(const std::string& state_folder);

/// Releases part of the reserve for the journal: without a journal no request can be answered.
/// False when nothing is left.
bool release_reserve(const std::string& state_folder);

/// A request in its place. Closing `lock`, or any other descriptor of the file, in this process
/// says that nobody asks any more.
struct PostedRequest {
  std::string id;
  Fd lock;
};

/// Writes a request. Fills in `id` (which sorts by time) if it is empty, and
/// `made`. Errc::not_found when there is no state folder, denied, no_space, io.
Result<PostedRequest> post_request(const std::string& state_folder, Request request);

/// Sends the same request to several state folders. The requests appear almost at once, in this
/// order. Returns one result per folder.
std::vector<Result<PostedRequest>> post_requests(const std::vector<std::string>& state_folders,
                                                 Request request);

/// The ids of all requests, readable or not. Errc::busy, denied, io.
Result<std::vector<std::string>> filed_requests(const std::string& state_folder);

/// The requests that wait for a daemon, oldest first, for commands that only look. Cleans up
/// nothing, and leaves out what cannot be read.
std::vector<Request> recorded_requests(const std::string& state_folder);

/// Waits for the answer. Nothing when the time is over; the request stays.
std::optional<Reply> await_reply(const std::string& state_folder, const std::string& id,
                                 Millis timeout);

}  // namespace baton
