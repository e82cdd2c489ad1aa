// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lines that Claude Code prints.

#include <string>

#include "runs.h"

namespace baton {

inline const std::string kGood =
    R"({"type":"result","subtype":"success","is_error":false,"num_turns":2,"result":"done",)"
    R"("session_id":"4f1c","total_cost_usd":0.04,"usage":{},"modelUsage":{},)"
    R"("permission_denials":[],"terminal_reason":"completed"})";
inline const std::string kTurns =
    R"({"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":41,)"
    R"_("total_cost_usd":1.40,"errors":["Reached maximum number of turns (40)"]})_";
inline const std::string kRejected =
    R"({"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1769090400,)"
    R"("rateLimitType":"five_hour"},"session_id":"4f1c"})"
    "\n";
inline const std::string kWarning =
    R"({"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning",)"
    R"("resetsAt":1769090400,"rateLimitType":"five_hour"}})"
    "\n";
inline const std::string kLimitText =
    "You've hit your session limit · resets 1:40pm (Europe/Prague)";
inline const std::string kSynthetic =
    line(R"({"type":"assistant","message":{"model":"<synthetic>","content":)"
         R"([{"type":"text","text":"TEXT"}]},"error":"rate_limit"})",
         kLimitText);
inline const std::string kLimited =
    line(R"({"type":"result","subtype":"success","is_error":true,"api_error_status":429,)"
         R"("terminal_reason":"api_error","result":"TEXT","total_cost_usd":0})",
         kLimitText);
inline const std::string kRetry =
    R"({"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,)"
    R"("retry_delay_ms":517,"error_status":529,"error":"overloaded"})"
    "\n";

inline std::string claude_error(const std::string& text, const std::string& more = "") {
  return line(
      R"({"type":"result","subtype":"success","is_error":true)" + more + R"(,"result":"TEXT"})",
      text);
}

}  // namespace baton
