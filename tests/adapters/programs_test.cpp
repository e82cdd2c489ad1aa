// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>

#include "adapters/judge.h"
#include "claude_lines.h"
#include "runs.h"

using namespace baton;

namespace {

struct Row {
  std::string adapter;
  RunEnd end;
  std::string verdict;
  std::string error;
};

void check(const Row& row) {
  CAPTURE(row.adapter);
  CAPTURE(row.end.output.substr(0, 300));
  CAPTURE(row.end.errors);
  const Judgement judgement = judged(row.adapter, row.end);
  CHECK(verdict(judgement) == row.verdict);
  CHECK(judgement.error == row.error);
}

}  // namespace

TEST_CASE("claude: the last result decides") {
  const std::string in_the_background =
      R"({"type":"result","is_error":true,"result":"x","origin":{"kind":"task-notification"}})";
  for (const Row& row : {
           Row{"claude", ended(0, kGood), "succeeded", ""},
           Row{"claude", ended(0, "[{\"type\":\"system\"}," + kGood + "]"), "succeeded", ""},
           Row{"claude", ended(0, "[{\"type\":\"system\"}," + kTurns + "]"), "failed max_turns",
               "Reached maximum number of turns (40)"},
           Row{"claude", ended(0, "Warning\n{\n \"type\": \"result\",\n \"is_error\": false\n}\nx"),
               "succeeded", ""},
           Row{"claude", ended(0, kTurns + "\n" + kGood), "succeeded", ""},
           Row{"claude", ended(0, kGood + "\n" + kTurns), "failed max_turns",
               "Reached maximum number of turns (40)"},
           Row{"claude", ended(0, kGood + "\n" + in_the_background), "succeeded", ""},
           Row{"claude", ended(0, kWarning + kGood), "succeeded", ""},
           Row{"claude", ended(0, kWarning + claude_error("Odd")), "failed agent_error", "Odd"},
           Row{"claude",
               ended(0, line(R"({"type":"result","is_error":false,"result":"TEXT"})",
                             std::string(300U << 10U, 'x'))),
               "succeeded", ""},
           Row{"claude",
               ended(0, "[" +
                            line(R"({"type":"result","is_error":true,"result":"TEXT"})",
                                 "Prompt is too long\n" + std::string(300U << 10U, 'x')) +
                            "]"),
               "failed context_too_long", "Prompt is too long"},
           Row{"claude", ended(0, kRetry + kRejected + kGood), "succeeded", ""},
           // A limit text in a good result is prose.
           Row{"claude",
               ended(0, line(R"({"type":"result","is_error":false,"result":"TEXT"})", kLimitText)),
               "succeeded", ""},
           Row{"claude", ended(1, kGood), "failed inconsistent",
               "the result says success, and the program ended with exit status 1"},
           Row{"claude", ended(0, ""), "failed no_result", ""},
           Row{"claude", ended(0, "hello\n"), "failed no_result", ""},
           Row{"claude", ended(0, kGood.substr(0, kGood.size() - 9)), "failed no_result", ""},
           Row{"claude", ended(0, kGood.substr(0, 40) + "\n" + kGood), "succeeded", ""},
           Row{"claude", ended(1, "", "Error: disk full\nsecond line\n"), "failed exit_1",
               "Error: disk full"},
       })
    check(row);
}

TEST_CASE("claude: failures are told apart") {
  const std::string no_session =
      R"({"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,)"
      R"("errors":["No conversation found with session ID: 4f1c"]})";
  const std::string budget =
      R"({"type":"result","subtype":"error_max_budget_usd","is_error":true,)"
      R"_("terminal_reason":"budget_exhausted","errors":["Reached maximum budget ($0.001)"],)_"
      R"("total_cost_usd":0.0291})";
  struct Text {
    std::string text;
    std::string verdict;
  };
  for (const Row& row : {
           Row{"claude", ended(1, no_session), "failed agent_error",
               "No conversation found with session ID: 4f1c"},
           Row{"claude", ended(1, kTurns), "failed max_turns",
               "Reached maximum number of turns (40)"},
           Row{"claude", ended(1, budget), "failed budget", "Reached maximum budget ($0.001)"},
           // The number of an event is better than the clock of a text.
           Row{"claude", ended(0, kRejected + kSynthetic + kLimited),
               "limited 2026-01-22T14:00:00Z", kLimitText},
           Row{"claude", ended(1, kSynthetic + kLimited), "limited 2026-01-22T12:40:00Z",
               kLimitText},
           Row{"claude", ended(1, kRejected), "limited 2026-01-22T14:00:00Z", ""},
           Row{"claude", ended(1, kSynthetic), "limited 2026-01-22T12:40:00Z", kLimitText},
           Row{"claude",
               ended(1, R"({"type":"rate_limit_event","rate_limit_info":{"status":"rejected"}})"
                        "\n" +
                            claude_error("Something", R"(,"api_error_status":429)")),
               "transient throttle", "Something"},
           Row{"claude",
               ended(1, R"({"type":"rate_limit_event","rate_limit_info":{"status":"rejected",)"
                        R"("resetsAt":"soon"}})"
                        "\n" +
                            claude_error("Something")),
               "failed agent_error", "Something"},
           // A limit earlier in the run does not explain another end.
           Row{"claude", ended(1, kRejected + kTurns), "failed max_turns",
               "Reached maximum number of turns (40)"},
           Row{"claude",
               ended(1, kRejected.substr(0, kRejected.find("five_hour")) + "seven_day_opus\"}}\n" +
                            claude_error("Something")),
               "limited model 2026-01-22T14:00:00Z", "Something"},
           Row{"claude",
               ended(1, R"({"type":"rate_limit_event","rate_limit_info":)"
                        R"({"errorCode":"credits_required"}})"
                        "\n" +
                            claude_error("Something")),
               "auth credit", "Something"},
           Row{"claude", ended(1, kRetry, "x"), "failed exit_1", "x"},
           Row{"claude",
               ended(1, R"({"type":"assistant","message":{"content":[{"type":"text",)"
                        R"("text":"Bad"}]},"error":"server_error"})"),
               "transient transient", "Bad"},
           Row{"claude", ended(1, claude_error("")), "failed agent_error", ""},
           Row{"claude", ended(1, claude_error("x", R"(,"api_error_status":529)")),
               "transient transient", "x"},
           Row{"claude", ended(1, claude_error("x", R"(,"api_error_status":401)")), "auth auth",
               "x"},
           Row{"claude", ended(1, claude_error("x", R"(,"api_error_status":402)")), "auth credit",
               "x"},
           Row{"claude", ended(1, claude_error("x", R"(,"api_error_status":403)")),
               "failed agent_error", "x"},
           Row{"claude", ended(1, "", "Error: Session ID 4f1c is already in use."),
               "failed agent_error", "Error: Session ID 4f1c is already in use."},
           Row{"claude",
               ended(1, "",
                     "--dangerously-skip-permissions cannot be used with root/sudo privileges for "
                     "security reasons"),
               "failed agent_error",
               "--dangerously-skip-permissions cannot be used with root/sudo privileges for "
               "security reasons"},
           Row{"claude",
               ended(1, "",
                     "Error: Input must be provided either through stdin or as a prompt argument "
                     "when using --print"),
               "failed agent_error",
               "Error: Input must be provided either through stdin or as a prompt argument when "
               "using --print"},
       })
    check(row);
  for (const Text& row : {
           Text{"Not logged in · Please run /login", "auth auth"},
           Text{"Invalid API key · Fix external API key", "auth auth"},
           Text{"OAuth token has expired · Please run /login", "auth auth"},
           Text{"OAuth token revoked · Please run /login", "auth auth"},
           Text{"Login expired · Please run /login", "auth auth"},
           Text{"Failed to authenticate: token", "auth auth"},
           Text{"Failed to authenticate. API Error: 401 Invalid authentication credentials",
                "auth auth"},
           Text{"Your organization has disabled Claude subscription access", "auth auth"},
           Text{"Credit balance is too low", "auth credit"},
           Text{"API Error: Usage credits required for 1M context · turn on", "auth credit"},
           Text{"API Error: 500 Internal server error. x", "transient transient"},
           Text{"Unable to connect to API (ConnectionRefused)", "transient transient"},
           Text{"Connection dropped (ECONNRESET)", "transient transient"},
           Text{"Request timed out", "transient transient"},
           Text{"API Error: x. The response above may be incomplete.", "transient transient"},
           Text{"Prompt is too long", "failed context_too_long"},
           Text{"Request too large (max 32MB). Try a smaller file.", "failed context_too_long"},
           Text{"API Error: Opus can't help with this. Start a new session to continue.",
                "failed refused"},
           Text{"API Error: Opus's safeguards flagged this message for x", "failed refused"},
           Text{"There's an issue with the selected model (x). It may not exist.",
                "failed agent_error"},
           Text{"You've used 95% of your session limit", "failed agent_error"},
       }) {
    CAPTURE(row.text);
    CHECK(verdict(judged("claude", ended(0, claude_error(row.text)))) == row.verdict);
  }
  CHECK(judged("claude", ended(1, no_session)).session_unusable);
  CHECK(
      judged("claude", ended(1, "", "Error: Session ID 4f1c is already in use.")).session_unusable);
  CHECK_FALSE(judged("claude", ended(1, kTurns)).session_unusable);
}

TEST_CASE("codex: only the end of a turn is an end") {
  const std::string done = R"({"type":"turn.completed","usage":{"input_tokens":100,)"
                           R"("cached_input_tokens":10,"output_tokens":2}})";
  const std::string warning = R"({"type":"item.completed","item":{"id":"item_0","type":"error",)"
                              R"("message":"Model metadata for `x` not found."}})"
                              "\n";
  const std::string again =
      R"_({"type":"error","message":"Reconnecting... 2/5 (unexpected status 401 Unauthorized: x)"})_"
      "\n";
  for (const Row& row : {
           Row{"codex", ended(0, warning + again + done, "Reading additional input from stdin..."),
               "succeeded", ""},
           Row{"codex", ended(0, again), "failed no_result", ""},
           Row{"codex", ended(1, again, "x"), "failed exit_1", "x"},
           Row{"codex", ended(1, again + failed_with("codex", "Odd").output), "failed agent_error",
               "Odd"},
           Row{"codex",
               failed_with("codex",
                           "unexpected status 401 Unauthorized: Missing bearer or basic "
                           "authentication in header, url: x"),
               "auth auth",
               "unexpected status 401 Unauthorized: Missing bearer or basic authentication in "
               "header, url: x"},
           Row{"codex",
               failed_with("codex",
                           "Your access token could not be refreshed because your refresh token "
                           "was already used. Log in again."),
               "auth auth",
               "Your access token could not be refreshed because your refresh token was already "
               "used. Log in again."},
           Row{"codex",
               failed_with("codex", "Quota exceeded. Check your plan and billing details."),
               "auth credit", "Quota exceeded. Check your plan and billing details."},
           Row{"codex", failed_with("codex", "You exceeded your current quota, x"), "auth credit",
               "You exceeded your current quota, x"},
           Row{"codex", failed_with("codex", "stream disconnected before completion: x"),
               "transient transient", "stream disconnected before completion: x"},
           Row{"codex", failed_with("codex", "unexpected status 503 Service Unavailable: x"),
               "transient transient", "unexpected status 503 Service Unavailable: x"},
           Row{"codex",
               failed_with("codex", "Codex ran out of room in the model's context window. x"),
               "failed context_too_long", "Codex ran out of room in the model's context window. x"},
           Row{"codex", failed_with("codex", "x approval is not supported in exec mode for y"),
               "failed permission_denied", "x approval is not supported in exec mode for y"},
           Row{"codex",
               ended(1, "",
                     "Not inside a trusted directory and --skip-git-repo-check was not "
                     "specified."),
               "failed agent_error",
               "Not inside a trusted directory and --skip-git-repo-check was not specified."},
           Row{"codex", ended(1, "", "Error loading config.toml: x"), "failed agent_error",
               "Error loading config.toml: x"},
       })
    check(row);
  CHECK(judged("codex", ended(1, "",
                              "Error: thread/resume: thread/resume failed: no rollout found for "
                              "thread id 019a"))
            .session_unusable);
}

TEST_CASE("gemini and qwen: the exit status says what the output leaves out") {
  const std::string odd = R"({"type":"result","status":"error","stats":{}})";
  const std::string pretty =
      "Loaded cached credentials.\n{\n  \"session_id\": \"s\",\n  \"error\": {\n"
      "    \"message\": \"You have exhausted your capacity on this model. Your quota will reset "
      "after 2h0m0s.\",\n    \"code\": 429\n  }\n}\n";
  for (const Row& row : {
           Row{"gemini", ended(0, R"({"type":"result","status":"success","stats":{}})"),
               "succeeded", ""},
           Row{"gemini", ended(0, odd), "failed agent_error", ""},
           Row{"gemini", ended(41, "", "Please set an Auth method in your settings.json"),
               "auth auth", "Please set an Auth method in your settings.json"},
           Row{"gemini", ended(41, "", "x"), "auth auth", "x"},
           Row{"gemini",
               ended(1, "",
                     "IneligibleTierError: This client is no longer supported for Gemini Code "
                     "Assist for individuals. x"),
               "auth auth",
               "IneligibleTierError: This client is no longer supported for Gemini Code Assist "
               "for individuals. x"},
           Row{"gemini", ended(42, "", "Invalid session identifier \"s\"."), "failed agent_error",
               "Invalid session identifier \"s\"."},
           Row{"gemini", ended(52, "", "x"), "failed agent_error", "x"},
           Row{"gemini", ended(55, "", "x"), "failed agent_error", "x"},
           Row{"gemini", ended(53, "", "x"), "failed max_turns", "x"},
           Row{"gemini", ended(173, "", "x"), "transient throttle", "x"},
           Row{"gemini", ended(173, "", pretty), "limited 2026-01-22T12:00:00Z",
               "\"message\": \"You have exhausted your capacity on this model. Your quota will "
               "reset after 2h0m0s.\","},
           Row{"gemini", ended(145, "", "x"), "auth auth", "x"},
           Row{"gemini", ended(244, "", "x"), "transient transient", "x"},
           Row{"gemini", ended(247, "", "x"), "transient transient", "x"},
           Row{"gemini", ended(147, "", "x"), "failed exit_147", "x"},
           Row{"gemini", ended(1, "", "x"), "failed exit_1", "x"},
           Row{"gemini", ended(0, ""), "failed no_result", ""},
           Row{"gemini", failed_with("gemini", "Reached max session turns for this session. x"),
               "failed max_turns", "Reached max session turns for this session. x"},
           Row{"gemini", failed_with("gemini", "fetch failed: ETIMEDOUT"), "transient transient",
               "fetch failed: ETIMEDOUT"},
           Row{"gemini", ended(173, odd), "failed agent_error", ""},
           Row{"qwen", ended(53, "", "Reached max session turns"), "failed max_turns",
               "Reached max session turns"},
           Row{"qwen", ended(55, "", "x"), "failed budget", "x"},
           Row{"qwen",
               ended(0, R"([{"type":"system"},{"type":"result","is_error":false,"result":"ok"}])"),
               "succeeded", ""},
           Row{"qwen",
               ended(1, R"({"type":"result","subtype":"error_during_execution","is_error":true,)"
                        R"("error":{"message":"[API Error: x]"}})"),
               "failed agent_error", "[API Error: x]"},
       })
    check(row);
}

TEST_CASE("the other programs: their own ways to fail") {
  const std::string step = R"({"type":"step_finish","part":{"reason":"stop","cost":0.5}})"
                           "\n";
  const std::string error =
      R"({"type":"error","error":{"name":"APIError","data":{"message":"Rate limit exceeded",)"
      R"("statusCode":429,"isRetryable":true}}})"
      "\n";
  const std::string prose =
      line(R"({"type":"message","message":{"role":"assistant","content":)"
           R"([{"type":"text","text":"TEXT"}]}})",
           "Ran into this error: Server error: x.\n\nPlease retry if you think this is a "
           "transient or recoverable error.");
  const std::string quota =
      R"({"type":"session.error","data":{"errorType":"quota","message":"You have exceeded your )"
      R"_(monthly quota (Request ID: x)","statusCode":402,"errorCode":"quota_exceeded"}})_"
      "\n";
  const std::string weekly =
      R"({"type":"session.error","data":{"errorType":"rate_limit","errorCode":)"
      R"("user_weekly_rate_limited","message":"Sorry. Please wait 12 hours."}})"
      "\n";
  const std::string ended_badly =
      R"({"type":"result","sessionId":"s","exitCode":1,"usage":{"premiumRequests":0}})";
  const std::string hint = R"({"role":"meta","type":"session.resume_hint","session_id":"s"})";
  for (const Row& row : {
           Row{"opencode", ended(0, step), "succeeded", ""},
           Row{"opencode", ended(0, step + R"({"type":"done","reason":"idle","rejected":[]})"),
               "succeeded", ""},
           Row{"opencode", ended(0, error), "transient throttle", "Rate limit exceeded"},
           Row{"opencode", ended(1, step + error + R"({"type":"done","reason":"idle"})"),
               "transient throttle", "Rate limit exceeded"},
           Row{"opencode",
               ended(1, R"({"type":"error","error":{"name":"ContextOverflowError","data":)"
                        R"({"message":"x"}}})"),
               "failed context_too_long", "x"},
           Row{"opencode", ended(1, R"({"type":"error","error":{"name":"UnknownError"}})"),
               "failed agent_error", "UnknownError"},
           Row{"opencode", ended(1, "", "Session not found"), "failed exit_1", "Session not found"},
           Row{"goose", ended(0, R"({"type":"complete","total_tokens":9})"), "succeeded", ""},
           Row{"goose", ended(0, prose + R"({"type":"complete","total_tokens":9})"),
               "failed agent_error", "Ran into this error: Server error: x."},
           Row{"goose", failed_with("goose", "Authentication error: x"), "auth auth",
               "Ran into this error: Authentication error: x"},
           Row{"goose", ended(0, R"({"type":"error","error":"x"})"), "failed agent_error", "x"},
           Row{"goose", ended(0, "text"), "failed no_result", ""},
           Row{"copilot", ended(1, quota + ended_badly), "limited",
               "You have exceeded your monthly quota (Request ID: x)"},
           Row{"copilot", ended(1, weekly + ended_badly), "limited 2026-01-22T22:00:00Z",
               "Sorry. Please wait 12 hours."},
           Row{"copilot",
               ended(1, R"({"type":"session.error","data":{"errorType":"authentication",)"
                        R"("message":"x"}})"
                        "\n" +
                            ended_badly),
               "auth auth", "x"},
           Row{"copilot", ended(1, "", "Error: No authentication information found."), "auth auth",
               "Error: No authentication information found."},
           Row{"copilot", ended(1, ended_badly), "failed agent_error", ""},
           Row{"kimi", ended(0, hint), "succeeded", ""},
           Row{"kimi",
               ended(1, "",
                     "error: failed to run prompt: provider.overloaded: x\nSee log: /x/y.log\n"),
               "transient transient", "error: failed to run prompt: provider.overloaded: x"},
           Row{"kimi", ended(1, "", "error: failed to run prompt: provider.auth_error: 401 x"),
               "auth auth", "error: failed to run prompt: provider.auth_error: 401 x"},
           Row{"kimi", ended(1, "", "Provider safety policy blocked the response."),
               "failed refused", "Provider safety policy blocked the response."},
           Row{"kimi", ended(75, "", ""), "transient throttle", ""},
           Row{"kimi", ended(1, "LLM provider error: x\n", "x"), "failed exit_1", "x"},
           Row{"cursor-agent", ended(0, R"({"type":"result","is_error":false,"result":"x"})"),
               "succeeded", ""},
           Row{"cursor-agent", ended(1, "", "Error: Authentication required."), "auth auth",
               "Error: Authentication required."},
           Row{"amp",
               ended(0, R"({"type":"result","subtype":"success","is_error":false,"result":"x"})"),
               "succeeded", ""},
           Row{"aider", ended(0, "Applied edit to a.txt\n"), "succeeded", ""},
           Row{"aider",
               ended(0,
                     "litellm.AuthenticationError: x\nThe API provider is not able to "
                     "authenticate you. Check your API key.\n"),
               "auth auth", "litellm.AuthenticationError: x"},
           Row{"aider", ended(0, "x\nThe API provider's servers are down or overloaded.\n"),
               "transient transient", "The API provider's servers are down or overloaded."},
           Row{"aider", ended(0, "Model x has hit a token limit!\n"), "failed context_too_long",
               "Model x has hit a token limit!"},
           Row{"aider", ended(0, "I fixed it: litellm.RateLimitError was not caught.\n"),
               "succeeded", ""},
           Row{"aider", ended(1, "", "x"), "failed exit_1", "x"},
           Row{"crush", ended(0, "fine"), "succeeded", ""},
           Row{"crush", ended(1, "", "ERROR agent processing failed: 429 Too Many Requests"),
               "failed exit_1", "ERROR agent processing failed: 429 Too Many Requests"},
       })
    check(row);
  CHECK(judged("opencode", ended(1, "", "Session not found")).session_unusable);
}

TEST_CASE("generic: a result of claude's shape, else the exit status") {
  for (const Row& row : {
           Row{"generic", ended(0, "fine"), "succeeded", ""},
           Row{"generic", ended(3, "x", "a\nb\n\n"), "failed exit_3", "b"},
           Row{"generic", ended(0, "log\nanswer: " + kGood), "succeeded", ""},
           Row{"generic", ended(0, "log\n" + kTurns + "\ncleaning up\n"), "failed max_turns",
               "Reached maximum number of turns (40)"},
           Row{"generic", ended(0, kLimited), "limited 2026-01-22T12:40:00Z", kLimitText},
           Row{"generic", ended(1, kGood), "failed inconsistent",
               "the result says success, and the program ended with exit status 1"},
           Row{"generic", ended(1, R"({"type":"result","passed":3})"), "failed exit_1", ""},
           Row{"generic",
               ended(1, "You've hit your session limit · resets 10:20pm (America/Edmonton)"),
               "limited", "You've hit your session limit · resets 10:20pm (America/Edmonton)"},
           Row{"generic",
               ended(1, "I have refactored the rate limit middleware; two tests are red"),
               "failed exit_1", ""},
       })
    check(row);
  // The same limit in the evening, when it is less than five hours away
  CHECK(verdict(judged("generic",
                       ended(1,
                             "You've hit your session limit · resets 10:20pm "
                             "(America/Edmonton)"),
                       {.now = "2026-01-23T03:00:00Z"})) == "limited 2026-01-23T05:20:00Z");
}
