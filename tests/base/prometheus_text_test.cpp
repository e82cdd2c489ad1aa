// SPDX-License-Identifier: Apache-2.0
#include "base/prometheus_text.h"

#include <array>
#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

namespace baton {
namespace {

std::string line_of(const MetricLabels& labels, double value) {
  PrometheusText text;
  text.family("x", MetricType::gauge, "X.");
  const std::size_t head = text.text().size();
  text.sample(labels, value);
  return text.text().substr(head);
}

TEST_CASE("a family begins with its help and its type") {
  PrometheusText text;
  text.comment("by baton");
  text.family("baton_runs_total", MetricType::counter, "Runs, a \\ and\na line.");
  text.sample({{"root", "/srv"}, {"agent", "qa"}}, 3);
  text.family("baton_up", MetricType::gauge, "Up.");
  text.sample({}, 1);
  CHECK(text.text() ==
        "# by baton\n"
        "# HELP baton_runs_total Runs, a \\\\ and\\na line.\n"
        "# TYPE baton_runs_total counter\n"
        "baton_runs_total{root=\"/srv\",agent=\"qa\"} 3\n"
        "# HELP baton_up Up.\n"
        "# TYPE baton_up gauge\n"
        "baton_up 1\n");
}

TEST_CASE("a comment stays on its line") {
  PrometheusText text;
  text.comment("for /a\nbaton_up 7");
  CHECK(text.text() == "# for /a\\nbaton_up 7\n");
}

TEST_CASE("label values are escaped") {
  struct Row {
    const char* value;
    const char* written;
  };
  for (const Row& row : {Row{"", ""}, Row{"/srv/a b", "/srv/a b"}, Row{"a\"b", "a\\\"b"},
                         Row{"a\\b", "a\\\\b"}, Row{"a\\nb", "a\\\\nb"}, Row{"a\nb", "a\\nb"},
                         Row{"\\\"\n", "\\\\\\\"\\n"}, Row{"{}=,#", "{}=,#"}, Row{"ä€", "ä€"},
                         Row{"a\xff"
                             "b",
                             "a\xef\xbf\xbd"
                             "b"}}) {
    CAPTURE(row.value);
    CHECK(line_of({{"l", row.value}}, 1) == "x{l=\"" + std::string(row.written) + "\"} 1\n");
  }
}

TEST_CASE("numbers are written so that they are read back") {
  struct Row {
    double value;
    const char* written;
  };
  for (const Row& row :
       {Row{0, "0"}, Row{100000, "100000"}, Row{1769076000.123, "1769076000.123"},
        Row{-1.5, "-1.5"}, Row{0.005, "0.005"}, Row{1e14, "100000000000000"}, Row{1e20, "1e+20"},
        Row{std::numeric_limits<double>::infinity(), "+Inf"},
        Row{-std::numeric_limits<double>::infinity(), "-Inf"},
        Row{std::numeric_limits<double>::quiet_NaN(), "NaN"}, Row{1e-300, "1e-300"}}) {
    CAPTURE(row.written);
    CHECK(line_of({}, row.value) == "x " + std::string(row.written) + "\n");
  }
}

TEST_CASE("the buckets of a histogram are cumulative and end with +Inf") {
  PrometheusText text;
  constexpr std::array kBounds = {0.1, 1.0};
  constexpr std::array<std::uint64_t, 3> kCounts = {2, 0, 1};
  text.family("t_seconds", MetricType::histogram, "T.");
  text.histogram({{"root", "/r"}}, kBounds, kCounts, 4.25);
  CHECK(text.text() ==
        "# HELP t_seconds T.\n"
        "# TYPE t_seconds histogram\n"
        "t_seconds_bucket{root=\"/r\",le=\"0.1\"} 2\n"
        "t_seconds_bucket{root=\"/r\",le=\"1\"} 2\n"
        "t_seconds_bucket{root=\"/r\",le=\"+Inf\"} 3\n"
        "t_seconds_sum{root=\"/r\"} 4.25\n"
        "t_seconds_count{root=\"/r\"} 3\n");
}

}  // namespace
}  // namespace baton
