// SPDX-License-Identifier: Apache-2.0
#include "core/reported.h"

#include <string>

#include <doctest/doctest.h>

namespace baton {

TEST_CASE("what agents say of their costs at the end of their output is read") {
  struct Row {
    std::string output;
    std::optional<double> cost;
    std::optional<std::int64_t> tokens;
  };
  const std::string result =
      R"({"type":"result","total_cost_usd":0.25,"usage":{"input_tokens":10,"output_tokens":5}})";
  for (const Row& row : {
           Row{"", {}, {}},
           Row{result, 0.25, 15},
           Row{"{\n  \"total_cost_usd\": 1.5\n}\n", 1.5, {}},
           Row{R"({"type":"system"})"
               "\n" +
                   result + "\n",
               0.25, 15},
           Row{result + "\r\nbye\n\n", 0.25, 15},
           Row{R"({"type":"turn.completed","usage":{"input_tokens":7,"cached_input_tokens":3,)"
               R"("output_tokens":2}})",
               {},
               9},
           Row{"total_cost_usd: 3", {}, {}},
           Row{R"({"total_cost_usd":"3"})", {}, {}},
           Row{R"({"total_cost_usd":-3})", {}, {}},
           Row{R"({"total_cost_usd":0})", 0.0, {}},
           Row{R"({"total_cost_usd":1e6})", 1e6, {}},
           Row{R"({"total_cost_usd":1000000.01})", {}, {}},
           Row{R"({"total_cost_usd":1e308,"usage":{"input_tokens":7}})", {}, 7},
           Row{R"({"usage":{"input_tokens":9223372036854775807,"output_tokens":1}})", {}, {}},
           Row{R"({"usage":{"input_tokens":-1,"output_tokens":1}})", {}, {}},
           Row{R"({"cut":"off","total_cost_usd":3)", {}, {}},
           Row{result + "\n1\n2\n3\n4\n5\n6\n7\n8\n", {}, {}},
       }) {
    CAPTURE(row.output);
    const ReportedUsage reported = reported_usage(row.output);
    CHECK(reported.cost_usd == row.cost);
    CHECK(reported.tokens == row.tokens);
  }
}

}  // namespace baton
