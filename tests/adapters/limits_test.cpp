// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "runs.h"

using namespace baton;

namespace {

struct Row {
  std::string adapter;
  std::string text;
  std::string verdict;
  std::string now = "2026-01-22T10:00:00Z";
};

/// Every literal form that is known, by the program that prints it.
const std::vector<Row>& forms() {
  static const std::vector<Row> rows = {
      // Claude Code
      {"claude", "You've hit your session limit · resets 3:45pm", "limited 2026-01-22T14:45:00Z"},
      {"claude", "You've hit your session limit · resets 5:30am (America/Los_Angeles)",
       "limited 2026-01-22T13:30:00Z"},
      {"claude", "You've hit your limit · resets 8:30am (America/Los_Angeles)",
       "limited 2026-01-22T16:30:00Z"},
      {"claude", "You've hit your limit · resets 8pm (Europe/Berlin)",
       "limited 2026-01-22T19:00:00Z"},
      {"claude", "You've hit your weekly limit · resets Mon 12:00am",
       "limited 2026-01-25T23:00:00Z"},
      {"claude", "You've hit your weekly limit · resets Oct 5 at 12am (America/Chicago)",
       "limited 2026-10-05T05:00:00Z", "2026-10-01T00:00:00Z"},
      {"claude", "You've hit your weekly limit · resets Apr 23 at 4pm (America/Recife)",
       "limited 2026-04-23T19:00:00Z", "2026-04-20T00:00:00Z"},
      {"claude", "You've hit your weekly limit · resets Jul 7, 2pm (Europe/Berlin)",
       "limited 2026-07-07T12:00:00Z", "2026-07-05T12:00:00Z"},
      {"claude", "Weekly limit reached · resets 10am (Asia/Seoul) · /upgrade to Max",
       "limited 2026-01-23T01:00:00Z", "2026-01-22T04:32:00Z"},
      {"claude", "You've hit your Opus limit · resets 3:45pm",
       "limited model 2026-01-22T14:45:00Z"},
      {"claude",
       "You've reached your Fable 5 limit. Run /usage-credits to continue or switch models with "
       "/model.",
       "limited model"},
      {"claude", "Claude AI usage limit reached|1769083200", "limited 2026-01-22T12:00:00Z"},
      {"claude", "Claude AI usage limit reached|1755806400", "limited"},
      {"claude", "You're out of extra usage · resets 3:10am (America/Los_Angeles)",
       "limited 2026-01-22T11:10:00Z"},
      {"claude", "You've hit your org's monthly usage limit", "limited"},
      {"claude", "You've hit your individual spend limit", "limited"},
      {"claude", "You've hit your monthly spend limit", "limited"},
      {"claude", "API Error: Server is temporarily limiting requests (not your usage limit)",
       "transient throttle"},
      {"claude", "API Error: Request rejected (429) · this may be a temporary capacity issue",
       "transient throttle"},
      {"claude", "API Error: Repeated 529 Overloaded errors. Try again.", "transient transient"},
      {"claude", "API Error: 529 Overloaded. Try again.", "transient transient"},
      {"claude", "spend limit reached (daily; resets 2026-02-09 00:00 UTC)",
       "limited 2026-02-09T00:00:00Z"},
      // Anthropic's API
      {"claude",
       "You have reached your specified API usage limits. You will regain access on 2026-02-01 "
       "at 00:00 UTC.",
       "limited 2026-02-01T00:00:00Z"},
      {"claude",
       "API Error: 400 You have reached your specified API usage limits. You will regain access "
       "on 2026-02-01.",
       "limited 2026-01-31T23:00:00Z"},
      {"claude",
       R"(API Error: 429 {"error":{"details":{"error_code":"enforced_spend_limit_reached"}}})",
       "limited"},
      {"claude", "This request would exceed your account's rate limit. Please try again later.",
       "transient throttle"},
      // Codex
      {"codex",
       "You've hit your usage limit. Upgrade to Pro (https://x.y/pro), visit https://x.y/usage "
       "to purchase more credits or try again at 3:51 PM.",
       "limited 2026-01-22T14:51:00Z"},
      {"codex", "You’ve hit your usage limit. Visit https://x.y/usage.", "limited"},
      {"codex", "You've hit your usage limit. Try again at Feb 23rd, 2026 9:01 PM.",
       "limited 2026-02-23T20:01:00Z", "2026-02-20T00:00:00Z"},
      {"codex", "You've hit your usage limit. Try again at Oct 9th, 2026 11:58 PM.",
       "limited 2026-10-09T21:58:00Z", "2026-09-30T00:00:00Z"},
      {"codex", "You've hit your usage limit. Try again in 4 days 20 hours 9 minutes.",
       "limited 2026-01-27T06:09:00Z"},
      {"codex", "You've hit your usage limit. Try again later.", "limited"},
      {"codex",
       "You've hit your usage limit for GPT-5.1-Codex. Switch to another model now, or try "
       "again at 3:51 PM.",
       "limited model 2026-01-22T14:51:00Z"},
      {"codex", "Your workspace is out of credits. Ask your owner.", "auth credit"},
      {"codex", "You hit your spend cap set by the owner of your workspace. Ask them.",
       "auth credit"},
      {"codex", "exceeded retry limit, last status: 429 Too Many Requests, request id: 1769083200",
       "transient throttle"},
      {"codex", "Selected model is at capacity. Please try a different model.",
       "transient throttle"},
      // Gemini
      {"gemini", R"([API Error: {"status":"MODEL_CAPACITY_EXHAUSTED"}])", "transient throttle"},
      {"gemini",
       "[API Error: You have exhausted your capacity on this model. Your quota will reset after "
       "19h14m47s.]",
       "limited 2026-01-23T05:14:47Z"},
      {"gemini",
       "You have exhausted your capacity on this model. Your quota will reset after 0s. "
       R"(retryDelay:"68940s")",
       "limited 2026-01-23T05:09:00Z"},
      {"gemini",
       "You have exhausted your capacity on this model. Your quota will reset after 0s. "
       R"(quotaResetTimeStamp:"2026-01-23T05:14:08Z")",
       "limited 2026-01-23T05:14:08Z"},
      {"gemini", "You have exhausted your capacity on this model. Your quota will reset after 0s.",
       "limited"},
      {"gemini", "[API Error: You have exhausted your daily quota on this model.]", "limited"},
      {"gemini", "You exceeded your current quota. Please retry in 54.887755558s.",
       "transient throttle"},
      {"gemini", "RESOURCE_EXHAUSTED. Please retry in 887.5ms.", "transient throttle"},
      {"gemini", "Quota exceeded. Suggested retry after 60s.", "transient throttle"},
      {"gemini", "Quota exceeded. Please retry in 400s.", "limited 2026-01-22T10:06:40Z"},
      {"gemini", "RESOURCE_EXHAUSTED: quota exceeded for metric: requests, limit: 0",
       "auth credit"},
      {"gemini", "RESOURCE_EXHAUSTED: quota exceeded for metric: requests, limit: 10",
       "transient throttle"},
      {"gemini", "Quota reached. Refreshes in 6 days and 18 hours", "limited 2026-01-29T04:00:00Z"},
      // OpenRouter, opencode
      {"opencode",
       "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model "
       R"(requests per day {"X-RateLimit-Reset":"1769083200000"})",
       "limited 2026-01-22T12:00:00Z"},
      {"goose", "Rate limit exceeded: free-models-per-day. Add 10 credits", "limited"},
      {"opencode", "deepseek/r1:free is temporarily rate-limited upstream. Please retry shortly.",
       "transient throttle"},
      {"opencode", "Monthly usage limit reached", "limited"},
      {"opencode", "Free usage exceeded, add credits https://opencode.ai/zen", "auth credit"},
      // Kimi
      {"kimi",
       "error: failed to run prompt: provider.rate_limit: request reached organization max RPM: "
       "20, please try again after 1 seconds",
       "transient throttle"},
      {"kimi",
       "error: failed to run prompt: provider.auth_error: 403 You've reached your usage limit "
       "for this billing cycle. Your quota will be refreshed in the next cycle.",
       "limited"},
      {"kimi",
       "error: failed to run prompt: provider.auth_error: You've reached your weekly (7-day) "
       "usage limit. access_terminated_error",
       "limited"},
      {"kimi",
       "error: failed to run prompt: provider.rate_limit: We're receiving too many requests at "
       "the moment. rate_limit_reached_error",
       "transient throttle"},
      // Qwen and others
      {"qwen", "[API Error: Throttling.AllocationQuota]", "limited"},
      {"qwen", "Allocated quota exceeded, please increase your quota limit.", "limited"},
      {"kimi", "error: failed to run prompt: provider.rate_limit: exceeded_current_quota_error",
       "auth credit"},
      {"qwen", "[API Error: 429 insufficient_quota]", "auth credit"},
      {"qwen", "Qwen OAuth free tier has been discontinued as of 2026-04-15.", "auth credit"},
      {"copilot", "user_weekly_rate_limited", "limited"},
      {"copilot", "You've hit your rate limit. Please wait 12 hours.",
       "limited 2026-01-22T22:00:00Z"},
      {"copilot", "You have exceeded your monthly quota (Request ID: 12)", "limited"},
      {"cursor-agent",
       "Error: You've hit your usage limit. Your usage limits will reset when your monthly cycle "
       "ends on 11/17/2025.",
       "limited 2025-11-16T23:00:00Z", "2025-11-10T00:00:00Z"},
      // Headers that stand in an error text
      {"claude", "API Error: 429 rate_limit_error, retry-after: 30", "transient throttle"},
      {"claude", "429 rate_limit_error retry-after-ms: 1500", "transient throttle"},
      {"claude", "429 rate_limit_error, retry-after: 3600", "limited 2026-01-22T11:00:00Z"},
      {"claude", "rate_limit_error, Retry-After: Thu, 22 Jan 2026 12:00:00 GMT",
       "limited 2026-01-22T12:00:00Z"},
      // aider prints what its library says
      {"aider",
       "litellm.RateLimitError: AnthropicException - This request would exceed your account's "
       "rate limit.",
       "transient throttle"},
      {"aider", "litellm.RateLimitError: OpenrouterException - free-models-per-day", "limited"},
  };
  return rows;
}

}  // namespace

TEST_CASE("the limits of providers are recognised in the forms in which programs print them") {
  for (const Row& row : forms()) {
    CAPTURE(row.adapter);
    CAPTURE(row.text);
    const Judgement judgement =
        judged(row.adapter, failed_with(row.adapter, row.text), {.now = row.now});
    CHECK(verdict(judgement) == row.verdict);
    CHECK(judgement.error.find(row.text.substr(0, 30)) != std::string::npos);
  }
}

TEST_CASE("a script around a program is judged by the error that it passes on") {
  for (const Row& row : {
           Row{"generic", "You've hit your session limit · resets 3:45pm",
               "limited 2026-01-22T14:45:00Z"},
           Row{"generic", "Error: You've hit your usage limit. Try again later.", "limited"},
           Row{"generic",
               "You've hit your usage limit for GPT-5.1. Switch to another model now, or later.",
               "limited model"},
           Row{"generic", "Claude AI usage limit reached|1769083200",
               "limited 2026-01-22T12:00:00Z"},
           Row{"generic", "[API Error: You have exhausted your daily quota on this model.]",
               "limited"},
           Row{"generic",
               "error: failed to run prompt: provider.auth_error: 403 You've reached your usage "
               "limit for this billing cycle.",
               "limited"},
           Row{"generic", "API Error: 529 Overloaded. Try again.", "transient transient"},
           Row{"generic", "API Error: Request rejected (429) · x", "transient throttle"},
           Row{"generic", "Not logged in · Please run /login", "auth auth"},
           Row{"generic", "Credit balance is too low", "auth credit"},
       }) {
    CAPTURE(row.text);
    const std::string noise = "starting\n\n";
    CHECK(verdict(judged("generic", ended(1, noise + row.text + "\n"))) == row.verdict);
    CHECK(verdict(judged("generic", ended(1, "", noise + row.text))) == row.verdict);
    // Elsewhere it is prose, or the output of a tool.
    CHECK(verdict(judged("generic", ended(1, "expected: " + row.text))) == "failed exit_1");
    CHECK(verdict(judged("generic", ended(1, "", "got '" + row.text + "'"))) == "failed exit_1");
    CHECK(verdict(judged("generic", ended(1, row.text + "\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"))) ==
          "failed exit_1");
    CHECK(verdict(judged("generic", ended(0, row.text))) == "succeeded");
    CHECK(verdict(judged("generic", ended(0, "", row.text))) == "succeeded");
  }
}

TEST_CASE("a script that fails with words of its trade has failed") {
  for (const std::string text : {"I have refactored the rate limit middleware; two tests are red",
                                 "the queue is overloaded with rate limit tests",
                                 "test_overloaded ... FAILED",
                                 "overloaded: function has 3 candidates",
                                 "connect ECONNREFUSED 127.0.0.1:5432",
                                 "Error: connect ECONNREFUSED 127.0.0.1:5432",
                                 "ETIMEDOUT",
                                 "request timed out",
                                 "Error: Request timed out",
                                 "timed out",
                                 "401 tests passed, 2 failed",
                                 "429 tests passed",
                                 "503 Service Unavailable",
                                 "HTTP 529",
                                 "Error: 401 Unauthorized",
                                 "unavailable",
                                 "Service unavailable",
                                 "not logged in",
                                 "You are not logged into any GitHub hosts",
                                 "Invalid API key",
                                 "permission denied",
                                 "npm ERR! code ETIMEDOUT",
                                 "rate limit exceeded",
                                 "Rate limit exceeded",
                                 "Error: rate limit exceeded",
                                 "Too many requests",
                                 "error: too many requests",
                                 "retry-after: 30",
                                 "Please retry in 5s",
                                 "RESOURCE_EXHAUSTED",
                                 "rpc error: code = ResourceExhausted desc = limit: 0",
                                 "insufficient_quota",
                                 "usage limit reached",
                                 "the session limit of the pool is reached",
                                 "assert text == \"You've hit your session limit\"",
                                 "internal server error",
                                 "connection reset by peer",
                                 "overloaded",
                                 "401",
                                 "403 Forbidden",
                                 "unauthenticated"}) {
    CAPTURE(text);
    CHECK(verdict(judged("generic", ended(1, text))) == "failed exit_1");
    CHECK(verdict(judged("generic", ended(1, "x\n" + text + "\ny\n"))) == "failed exit_1");
    CHECK(verdict(judged("generic", ended(1, "", text))) == "failed exit_1");
    CHECK(verdict(judged("generic", ended(1, "", "x\n" + text + "\ny\n"))) == "failed exit_1");
  }
}

TEST_CASE("a model that writes about limits changes nothing") {
  std::string prose;
  for (const Row& row : forms())
    prose += row.text + "\n";
  for (const std::string more :
       {"API Error: 401 Invalid authentication credentials", "Prompt is too long",
        "Reached maximum number of turns (40)", "Reached maximum budget ($1)",
        "Credit balance is too low", "Not logged in · Please run /login"})
    prose += more + "\n";
  struct Good {
    std::string adapter;
    std::string output;
  };
  const std::string claude_like =
      line(R"({"type":"assistant","message":{"content":[{"type":"text","text":"TEXT"}]}})", prose) +
      line(R"({"type":"user","message":{"content":[{"type":"tool_result","content":"TEXT"}]}})",
           prose) +
      line(R"({"type":"result","subtype":"success","is_error":false,"result":"TEXT"})", prose);
  // What aider prints at the end of its answer would count only in the forms of its library.
  std::string plain;
  for (const Row& row : forms())
    if (row.adapter != "aider")
      plain += row.text + "\n";
  for (const Good& good : {
           Good{"claude", claude_like},
           Good{"amp", claude_like},
           Good{"cursor-agent", claude_like},
           Good{"qwen", claude_like},
           Good{"generic", claude_like},
           Good{"generic", prose},
           Good{"codex",
                line(R"({"type":"item.completed","item":{"type":"agent_message","text":"TEXT"}})",
                     prose) +
                    line(R"({"type":"item.completed","item":{"type":"error","message":"TEXT"}})",
                         prose) +
                    R"({"type":"turn.completed","usage":{}})"},
           Good{"gemini",
                line(R"({"type":"message","role":"assistant","content":"TEXT"})", prose) +
                    line(R"({"type":"error","severity":"warning","message":"TEXT"})", prose) +
                    R"({"type":"result","status":"success","stats":{}})"},
           Good{"opencode", line(R"({"type":"text","part":{"text":"TEXT"}})", prose) +
                                R"({"type":"step_finish","part":{"reason":"stop"}})"},
           Good{"goose", line(R"({"type":"message","message":{"role":"assistant","content":)"
                              R"([{"type":"text","text":"TEXT"}]}})",
                              "I wrote: Ran into this error: " + prose) +
                             R"({"type":"complete","total_tokens":9})"},
           Good{"kimi", line(R"({"role":"assistant","content":"TEXT"})", prose) +
                            R"({"role":"meta","type":"session.resume_hint","session_id":"s"})"},
           Good{"copilot",
                line(R"({"type":"assistant.message","data":{"content":"TEXT"}})", prose) +
                    R"({"type":"result","sessionId":"s","exitCode":0})"},
           Good{"aider", plain},
           Good{"crush", prose},
       }) {
    CAPTURE(good.adapter);
    CHECK(verdict(judged(good.adapter, ended(0, good.output))) == "succeeded");
  }
}
