// SPDX-License-Identifier: Apache-2.0
#include "adapters/judge.h"

#include <string>

#include <doctest/doctest.h>

#include "claude_lines.h"
#include "runs.h"

using namespace baton;

TEST_CASE("an echo of the prompt is no answer") {
  const std::string prompt = "End with a line like this one, without anything else:\n" + kGood;
  CHECK(verdict(judged("claude", ended(0, prompt), {}, prompt)) == "failed no_result");
  CHECK(verdict(judged("generic", ended(0, prompt + "\n" + kTurns), {}, prompt)) ==
        "failed max_turns");
  CHECK(verdict(judged("generic", ended(1, prompt), {}, prompt)) == "failed exit_1");
  CHECK(verdict(judged("claude", ended(0, "> \n" + prompt + "\n" + kGood), {}, prompt)) ==
        "succeeded");
  CHECK(judged("claude", ended(0, prompt + "\n" + kGood), {}, prompt).cost_usd == 0.04);
  CHECK_FALSE(judged("claude", ended(0, prompt), {}, prompt).cost_usd);
}

TEST_CASE("what baton did itself decides, and a limit is still seen") {
  for (const Outcome outcome : {Outcome::timed_out, Outcome::stalled, Outcome::stopped,
                                Outcome::interrupted, Outcome::unknown}) {
    CAPTURE(word(outcome));
    const std::string name(word(outcome));
    RunEnd end = ended(0, kRejected + kSynthetic, "ended\n");
    end.outcome = outcome;
    end.exit_code.reset();
    end.signal = 15;
    CHECK(verdict(judged("claude", end)) == name + " limited 2026-01-22T14:00:00Z");
    CHECK(judged("claude", end).error == "ended");
    end.output = kLimited;
    CHECK(verdict(judged("claude", end)) == name + " limited 2026-01-22T12:40:00Z");
    end.output = kRejected + kGood;
    end.exit_code = 0;
    CHECK(verdict(judged("claude", end)) == name);
    end.output = kTurns;
    CHECK(verdict(judged("claude", end)) == name);
  }
  // opencode sleeps through limits until baton ends it.
  RunEnd asleep = ended(0, "",
                        "ERROR 2026-01-22T09:50:00 +0ms error=\"Monthly usage limit "
                        "reached\" [retrying in 2h5m attempt #4]\n");
  asleep.outcome = Outcome::stalled;
  CHECK(verdict(judged("opencode", asleep)) == "stalled limited 2026-01-22T12:05:00Z");
  RunEnd missing;
  missing.outcome = Outcome::failed;
  missing.reason = "exec_failed";
  CHECK(verdict(judged("claude", missing)) == "failed exec_failed");
  RunEnd killed = ended(1, "", "x");
  killed.exit_code.reset();
  killed.signal = 9;
  killed.reason = "signal_9";
  CHECK(verdict(judged("claude", killed)) == "failed signal_9");
  killed.output = kGood;
  CHECK(judged("claude", killed).error ==
        "the result says success, and the program ended with signal 9");
  // What it printed before the kernel killed it does not say why.
  killed.reason = kOutOfMemory;
  killed.error = "the kernel killed it";
  for (const std::string& output : {std::string(), kGood, kTurns}) {
    killed.output = output;
    CHECK(verdict(judged("claude", killed)) == "failed out_of_memory");
    CHECK(judged("claude", killed).error == "the kernel killed it");
  }
}

TEST_CASE("cost, tokens and session are read") {
  struct Usage {
    std::string adapter;
    std::string output;
    std::optional<double> cost;
    std::optional<std::int64_t> tokens;
    std::string session = "";
    bool thread = false;
    bool denied = false;
  };
  const std::string models =
      R"({"type":"result","is_error":false,"result":"x","session_id":"4f1c","total_cost_usd":0.5,)"
      R"("usage":{"input_tokens":1,"output_tokens":1},"modelUsage":{"a":{"inputTokens":10,)"
      R"("outputTokens":5},"b/c":{"inputTokens":2}},"permission_denials":[{"tool_name":"Bash"}]})";
  const auto cost = [](const std::string& number) {
    return R"({"type":"result","is_error":false,"total_cost_usd":)" + number + "}\n";
  };
  for (const Usage& row : {
           Usage{"claude", kGood, 0.04, {}, "4f1c"},
           Usage{"claude", models, 0.5, 17, "4f1c", false, true},
           Usage{"claude", kLimited, 0.0, {}},
           Usage{"claude", kTurns, 1.4, {}},
           // Within one process the cost grows from result to result.
           Usage{"claude", cost("0.25") + cost("0.75"), 0.75, {}},
           Usage{"claude", kRejected, {}, {}, "4f1c"},
           // A script may start several processes.
           Usage{"generic", cost("0.25") + cost("0.75"), 1.0, {}},
           Usage{"generic", "log\n{\"total_cost_usd\": 0.25}\n{\"total_cost_usd\": 0.5}", 0.5, {}},
           Usage{"generic", R"({"usage":{"input_tokens":7,"output_tokens":2}})", {}, 9},
           Usage{"generic", models, 0.5, 17, "", false, true},
           Usage{"codex",
                 R"({"type":"thread.started","thread_id":"019a"})"
                 "\n"
                 R"({"type":"turn.completed","usage":{"input_tokens":100,"output_tokens":2}})",
                 {},
                 102,
                 "019a",
                 true},
           Usage{"gemini",
                 R"({"type":"init","session_id":"g","model":"m"})"
                 "\n"
                 R"({"type":"result","status":"success","stats":{"total_tokens":9}})",
                 {},
                 9,
                 "g"},
           Usage{"opencode",
                 R"({"type":"step_finish","sessionID":"ses_1","part":{"reason":"tool-calls",)"
                 R"("cost":0.25,"tokens":{"input":3,"output":2,"reasoning":1}}})"
                 "\n"
                 R"({"type":"step_finish","sessionID":"ses_1","part":{"reason":"stop",)"
                 R"("cost":0.5,"tokens":{"input":3,"output":2,"reasoning":1}}})"
                 "\n"
                 R"({"type":"done","reason":"idle","rejected":["x"]})",
                 0.75, 12, "ses_1", false, true},
           Usage{"goose", R"({"type":"complete","total_tokens":9})", {}, 9},
           Usage{"amp", R"({"type":"result","is_error":false,"session_id":"T-1"})", {}, {}, "T-1"},
           Usage{"kimi",
                 R"({"role":"meta","type":"session.resume_hint","session_id":"k"})",
                 {},
                 {},
                 "k"},
           Usage{"copilot", R"({"type":"result","sessionId":"c","exitCode":0})", {}, {}, "c"},
           // Numbers that cannot be true are passed over.
           Usage{"claude", cost("-1"), {}, {}},
           Usage{"claude", cost("1e300"), {}, {}},
           Usage{"claude", cost("\"3\""), {}, {}},
           Usage{"claude", cost("null"), {}, {}},
           Usage{"generic", cost("1e300") + cost("0.5"), 0.5, {}},
           Usage{"gemini", R"({"type":"result","stats":{"total_tokens":1e17}})", {}, {}},
           Usage{"gemini", R"({"type":"result","stats":{"total_tokens":-1}})", {}, {}},
           // An id becomes an argument.
           Usage{"claude", R"({"type":"system","session_id":"../../x"})", {}, {}},
           Usage{"claude", R"({"type":"system","session_id":".."})", {}, {}},
           Usage{"claude", R"({"type":"system","session_id":"a/b"})", {}, {}},
           Usage{"claude", R"({"type":"system","session_id":"--resume"})", {}, {}},
           Usage{"claude", R"({"type":"system","session_id":"a b"})", {}, {}},
           Usage{"claude", R"({"type":"system","session_id":"--help"})", {}, {}},
           Usage{"claude", R"({"type":"system","session_id":17})", {}, {}},
       }) {
    CAPTURE(row.adapter);
    CAPTURE(row.output);
    const Judgement judgement = judged(row.adapter, ended(0, row.output));
    CHECK(judgement.cost_usd == row.cost);
    CHECK(judgement.tokens == row.tokens);
    CHECK(judgement.session == row.session);
    CHECK(judgement.thread_tokens == row.thread);
    CHECK(judgement.denied == row.denied);
  }
}

TEST_CASE("a result counts with text around it and with a fault in it") {
  for (const std::string& output :
       {"\x1B]0;claude\a" + kGood, "Warning: hello " + kGood, kGood + " tail", "{\"a\":1}" + kGood,
        std::string("\0", 1) + kGood,
        std::string(R"({"type":"result","is_error":false,"result":"\ud83d cut",)"
                    R"("total_cost_usd":0.04})")}) {
    CAPTURE(output);
    CHECK(verdict(judged("claude", ended(0, output))) == "succeeded");
    CHECK(judged("claude", ended(0, output)).cost_usd == 0.04);
    CHECK(judged("generic", ended(0, output)).cost_usd == 0.04);
  }
}

TEST_CASE("a cost that cannot be true is named") {
  struct Row {
    std::string cost;
    std::string fault;
  };
  for (const Row& row : {
           Row{"-5", "-5 at /total_cost_usd"},
           Row{"NaN", "\"NaN\" at /total_cost_usd"},
           Row{"1e400", "\"1e400\" at /total_cost_usd"},
           Row{"\"3\"", "\"3\" at /total_cost_usd"},
           Row{"2e6", "2000000.0 at /total_cost_usd"},
           Row{"null", ""},
           Row{"0", ""},
       }) {
    CAPTURE(row.cost);
    for (const std::string& adapter : {std::string("claude"), std::string("generic")}) {
      const Judgement judgement = judged(
          adapter, ended(0, R"({"type":"result","is_error":false,"result":"x","total_cost_usd":)" +
                                row.cost + "}"));
      CHECK(verdict(judgement) == "succeeded");
      CHECK(judgement.usage_fault == row.fault);
      CHECK(judgement.cost_usd == (row.cost == "0" ? std::optional(0.0) : std::nullopt));
    }
  }
  CHECK(judged("claude", ended(0, R"({"type":"system","session_id":"../x"})")).session_fault ==
        "\"../x\"");
  CHECK(judged("claude", ended(0, kGood)).session_fault.empty());
}

TEST_CASE("a final object that gives a reason decides before stderr") {
  const std::string refused =
      R"({"type":"result","subtype":"error_during_execution","is_error":true,)"
      R"("errors":["the hook refused the turn"]})";
  CHECK(verdict(judged("claude", ended(1, refused, "log: Not logged in · Please run /login\n"))) ==
        "failed agent_error");
  CHECK(verdict(judged("opencode", ended(1, failed_with("opencode", "boom").output,
                                         "ERROR output=\"You've hit your usage limit.\"\n"))) ==
        "failed agent_error");
  // Without a reason in it, stderr may have one.
  CHECK(verdict(judged("claude", ended(1, R"({"type":"result","is_error":true})",
                                       "Not logged in · Please run /login\n"))) == "auth auth");
}

TEST_CASE("a reset time beside the error text counts") {
  const auto failed = [](const std::string& text, const std::string& more) {
    return verdict(judged("opencode", ended(1, R"({"type":"error","error":{"data":{"message":")" +
                                                   text + "\"," + more + "}}}")));
  };
  const std::string daily = "Rate limit exceeded: free-models-per-day. Add credits";
  CHECK(failed(daily, R"("responseHeaders":{"x-ratelimit-reset":"1769090400000"})") ==
        "limited 2026-01-22T14:00:00Z");
  CHECK(failed(daily, R"("responseHeaders":{"X-RateLimit-Reset":1769090400})") ==
        "limited 2026-01-22T14:00:00Z");
  CHECK(failed(daily,
               R"("responseBody":"{\"headers\":{\"X-RateLimit-Reset\":\"1769090400000\"}}")") ==
        "limited 2026-01-22T14:00:00Z");
  CHECK(failed(daily, R"("statusCode":429)") == "limited");
  CHECK(failed("Too many requests", R"("responseHeaders":{"retry-after":"30"})") ==
        "transient throttle");
  CHECK(failed("Too many requests", R"("responseHeaders":{"retry-after":"3600"})") ==
        "limited 2026-01-22T11:00:00Z");
}

TEST_CASE("a limit event does not hide that the credit is used up") {
  CHECK(verdict(judged("claude",
                       ended(1, kRejected + claude_error("API Error: Usage credits required for "
                                                         "1M context"))))
            .starts_with("auth"));
}

TEST_CASE("a script is judged by the results of the programs that it starts") {
  const std::string limit = "You've hit your usage limit.";
  CHECK(verdict(judged("generic", failed_with("codex", limit))) == "limited");
  CHECK(verdict(judged("generic", failed_with("opencode", limit))) == "limited");
  CHECK(verdict(judged("generic", failed_with("gemini", "You have exhausted your daily quota"))) ==
        "limited");
  CHECK(verdict(judged("generic", ended(1, "", "litellm.RateLimitError: x"))) ==
        "transient throttle");
  CHECK(verdict(judged("generic", ended(1, "litellm.RateLimitError: x"))) == "transient throttle");
  CHECK(verdict(judged("generic", ended(0, "litellm.RateLimitError: x"))) == "succeeded");
  CHECK(judged("generic", ended(0, R"({"type":"step_finish","part":{"reason":"stop","cost":0.5}})"))
            .cost_usd == 0.5);
}

TEST_CASE("the error is the line that begins with it") {
  CHECK(judged("kimi", ended(1, "", "error: failed to run prompt: x\nSee log: /a\n")).error ==
        "error: failed to run prompt: x");
  CHECK(judged("kimi", ended(1, "", "a\nb\n")).error == "b");
}

TEST_CASE("an echo of the prompt on stderr is no error of the program") {
  const std::string prompt = "Handle this text in our code:\nYou've hit your usage limit.\n";
  CHECK(verdict(judged("codex", ended(1, "", "user\n" + prompt + "boom\n"), {}, prompt)) ==
        "failed exit_1");
  CHECK(verdict(judged("generic", ended(1, "", prompt + "boom\n"), {}, prompt)) == "failed exit_1");
}

TEST_CASE("an empty answer is noticed") {
  const auto answer = [](const std::string& result) {
    return judged("claude",
                  ended(0, R"({"type":"result","is_error":false,"result":)" + result + "}"))
        .empty_answer;
  };
  CHECK(answer("\"\""));
  CHECK(answer("\" \\n\""));
  CHECK(answer("null"));
  CHECK_FALSE(answer("\"x\""));
  CHECK_FALSE(judged("generic", ended(0, "")).empty_answer);
  CHECK_FALSE(judged("codex", ended(0, R"({"type":"turn.completed"})")).empty_answer);
}

TEST_CASE("the error is one printable line") {
  CHECK(one_line("\n\n  a \nb") == "a");
  CHECK(one_line("") == "");
  CHECK(one_line("a\x1B[31mb") == "a\\x1b[31mb");
  CHECK(one_line(std::string(1000, 'x')).size() < 310);
  CHECK(judged("claude", ended(1, claude_error("a\nb"))).error == "a");
}

TEST_CASE("many error events are judged by the last ones") {
  std::string many;
  for (int i = 0; i < 100'000; ++i)
    many += "{\"type\":\"error\",\"message\":\"x\"}\n";
  CHECK(verdict(judged("codex", ended(1, many))) == "failed exit_1");
  CHECK(verdict(judged("codex", ended(1, many + line(R"({"type":"error","message":"TEXT"})",
                                                     "You've hit your usage limit.")))) ==
        "limited");
}

TEST_CASE("hostile outputs are judged like any other") {
  const std::string huge(1U << 20U, 'x');
  std::string deep;
  for (int i = 0; i < 100'000; ++i)
    deep += R"({"type":"result","a":)";
  const std::string nul("a\0b\n", 4);
  for (const std::string& adapter :
       {std::string("claude"), std::string("generic"), std::string("goose"), std::string("aider")})
    for (const std::string& hostile :
         {huge, deep, nul, std::string("\xFF\xFE{\"type\":\"result\"}\xC3"), std::string("[["),
          std::string("{\"type\":\"result\",\"is_error\":true,\"result\":\"\\ud800\"}"),
          std::string(
              "{\"type\":\"result\",\"is_error\":true,\"result\":{\"a\":[]},\"errors\":[[") +
              "1]]}",
          claude_error(huge), claude_error(std::string(16383, 'x') + "ü" + huge),
          std::string(16383, 'x') + "ü" + huge}) {
      CAPTURE(adapter);
      CAPTURE(hostile.substr(0, 50));
      for (const RunEnd& end : {ended(1, hostile), ended(1, "", hostile), ended(0, hostile)}) {
        const Judgement judgement = judged(adapter, end);
        CHECK(judgement.outcome != Outcome::none);
        CHECK(judgement.error.size() < 310);
      }
      CHECK(verdict(judged(adapter, ended(1, hostile, "x"))).starts_with("failed"));
    }
}
