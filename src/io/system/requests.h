#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/event.h"
#include "core/ports.h"

namespace baton {

// Control commands and the daemon talk through files in the state folder: a request is
// `requests/<id>.json`, its answer `replies/<id>.json`. Both appear complete, by rename. Answers
// are removed after an hour. `requests/.reserve` takes up room the daemon keeps for requests: one
// that finds the disk full gives it up, and so does a daemon that finds no room to answer, so that
// agents can be stopped then too.
//
//   {"id", "verb", "dialect", "flow", "subject", "arguments": {...}, "by", "made"}
//   {"request", "accepted", "message"}

/// Makes both folders when they are missing.
Result<std::unique_ptr<Requests>> real_requests(const std::string& state_folder);

/// Gives a part of the reserve up for the journal, without which no request can be answered and
/// nothing be told. False when there is none left.
bool lend_reserve(const std::string& state_folder);

/// Files a request and returns its id, which is made when the request has none and sorts by time.
/// `made` too. Errc::not_found when there is no state folder, denied, no_space, io.
Result<std::string> post_request(const std::string& state_folder, Request request);

/// The same request to several daemons, or to one that serves several folders: it appears in all of
/// them as good as at once, in their order. Of each what became of it.
std::vector<Result<std::string>> post_requests(const std::vector<std::string>& state_folders,
                                               Request request);

/// The ids of all that are filed, whatever is in them. Errc::busy, denied, io.
Result<std::vector<std::string>> filed_requests(const std::string& state_folder);

/// Those that wait for a daemon, the oldest first, for who only looks: nothing is tidied up, and
/// what cannot be read is left out.
std::vector<Request> recorded_requests(const std::string& state_folder);

/// Waits for the answer. Nothing when the time is up; the request stays filed.
std::optional<Reply> await_reply(const std::string& state_folder, const std::string& id,
                                 Millis timeout);

}  // namespace baton
