// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ends of agent programs for tests, as the programs print them.

#include <string>
#include <string_view>

#include "adapters/judge.h"
#include "base/json/json.h"
#include "zones.h"

namespace baton {

/// A program that ended by itself.
inline RunEnd ended(int exit_code, std::string output, std::string errors = "") {
  RunEnd end;
  end.exit_code = exit_code;
  end.outcome = exit_code == 0 ? Outcome::succeeded : Outcome::failed;
  end.reason = exit_code == 0 ? "" : "exit_" + std::to_string(exit_code);
  end.output = std::move(output);
  end.errors = std::move(errors);
  return end;
}

/// An object in which `TEXT` stands for a text.
inline std::string line(std::string object, std::string_view text) {
  constexpr std::string_view kPlace = "\"TEXT\"";
  object.replace(object.find(kPlace), kPlace.size(), json::quote(text));
  return object + "\n";
}

/// A run that failed with an error text, as each program reports it.
inline RunEnd failed_with(const std::string& adapter, const std::string& text) {
  if (adapter == "claude")
    return ended(
        0, line(R"({"type":"result","subtype":"success","is_error":true,"result":"TEXT"})", text));
  if (adapter == "codex")
    return ended(1, line(R"({"type":"error","message":"TEXT"})", text) +
                        line(R"({"type":"turn.failed","error":{"message":"TEXT"}})", text));
  if (adapter == "gemini")
    return ended(1, line(R"({"type":"result","status":"error","error":{"message":"TEXT"}})", text));
  if (adapter == "qwen")
    return ended(1, line(R"({"type":"result","is_error":true,"error":{"message":"TEXT"}})", text));
  if (adapter == "opencode")
    return ended(1, line(R"({"type":"error","error":{"data":{"message":"TEXT"}}})", text));
  if (adapter == "copilot")
    return ended(1, line(R"({"type":"session.error","data":{"message":"TEXT"}})", text) +
                        R"({"type":"result","sessionId":"s","exitCode":1})");
  if (adapter == "goose")
    return ended(0, line(R"({"type":"message","message":{"role":"assistant","content":)"
                         R"([{"type":"text","text":"TEXT"}]}})",
                         "Ran into this error: " + text + "\n\nPlease retry if you think so.") +
                        R"({"type":"complete","total_tokens":9})");
  if (adapter == "aider")
    return ended(0, "Aider v0.86\n" + text + "\n");
  return ended(1, "", text + "\n");
}

struct Place {
  std::string now = "2026-01-22T10:00:00Z";
  std::string zone = "Europe/Berlin";
};

inline Judgement judged(const std::string& adapter, const RunEnd& end, const Place& place = {},
                        std::string_view prompt = "") {
  const FakeZones zones;
  return judge(embedded_adapter(adapter), end, prompt,
               {.now = *parse_time(place.now), .zone = place.zone, .zones = zones});
}

/// Outcome, reason and limit in one line: `limited model 2026-01-22T14:45:00Z`, `failed exit_1`.
inline std::string verdict(const Judgement& judgement) {
  std::string text(word(judgement.outcome));
  if (judgement.outcome != Outcome::limited && !judgement.reason.empty())
    text += " " + judgement.reason;
  if (judgement.limit && judgement.outcome != Outcome::limited)
    text += " limited";
  if (judgement.limit && judgement.limit->of_model)
    text += " model";
  if (judgement.limit && judgement.limit->until)
    text += " " + iso_time(*judgement.limit->until);
  return text;
}

}  // namespace baton
