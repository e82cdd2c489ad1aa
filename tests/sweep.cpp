// SPDX-License-Identifier: Apache-2.0
#include "sweep.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "day.h"

namespace baton::testing {
namespace {

struct Arguments {
  std::uint64_t seeds = 0;
  std::uint64_t first = 1;
  std::string mutant;
  bool quiet = false;
  bool trace = false;
};

std::optional<Arguments> parse(const Sweep& sweep, const std::vector<std::string>& words) {
  Arguments arguments;
  arguments.seeds = sweep.seeds;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool more = i + 1 < words.size();
    if (words[i] == "--quiet")
      arguments.quiet = true;
    else if (words[i] == "--trace")
      arguments.trace = true;
    else if (words[i] == "--seeds" && more)
      arguments.seeds = std::strtoull(words[++i].c_str(), nullptr, 10);
    else if (words[i] == "--first" && more)
      arguments.first = std::strtoull(words[++i].c_str(), nullptr, 10);
    else if (words[i] == "--today" && more) {
      arguments.seeds = std::strtoull(words[++i].c_str(), nullptr, 10);
      arguments.first = 1 + day() * arguments.seeds;
    } else if (words[i] == "--mutant" && more)
      arguments.mutant = words[++i];
    else
      return std::nullopt;
  }
  return arguments;
}

/// Until the first fault.
std::optional<std::pair<std::uint64_t, Fault>> faulty(const Sweep& sweep,
                                                      const Arguments& arguments,
                                                      std::string_view mutant) {
  for (std::uint64_t seed = arguments.first; seed < arguments.first + arguments.seeds; ++seed)
    if (auto fault = sweep.trial(seed, mutant, arguments.trace))
      return std::pair(seed, *fault);
  return std::nullopt;
}

std::string place(const std::pair<std::uint64_t, Fault>& fault) {
  return "seed=" + std::to_string(fault.first) + " step=" + std::to_string(fault.second.step) +
         ": " + fault.second.what;
}

int correct(const Sweep& sweep, const Arguments& arguments) {
  const auto fault = faulty(sweep, arguments, "");
  if (!arguments.quiet)
    std::printf("from seed %llu on: %s\n", static_cast<unsigned long long>(arguments.first),
                sweep.summary().c_str());
  if (!fault)
    return 0;
  std::printf("%s\n", place(*fault).c_str());
  return 1;
}

int mutants(const Sweep& sweep, const Arguments& arguments) {
  int survivors = 0;
  bool found = false;
  const std::string_view of_today = sweep.mutants[day() % sweep.mutants.size()];
  const std::string_view wanted = arguments.mutant == "today" ? of_today : arguments.mutant;
  for (const std::string_view mutant : sweep.mutants) {
    if (wanted != "all" && wanted != mutant)
      continue;
    found = true;
    const auto fault = faulty(sweep, arguments, mutant);
    std::printf("%-22s %s\n", std::string(mutant).c_str(),
                fault ? ("caught: " + place(*fault)).c_str()
                      : ("SURVIVED " + std::to_string(arguments.seeds) + " seeds").c_str());
    survivors += fault ? 0 : 1;
  }
  return found && survivors == 0 ? 0 : 1;
}

}  // namespace

int sweep(const Sweep& sweep, const std::vector<std::string>& words) {
  const auto arguments = parse(sweep, words);
  if (arguments)
    return arguments->mutant.empty() ? correct(sweep, *arguments) : mutants(sweep, *arguments);
  std::printf(
      "%s [--seeds N] [--first SEED | --today N] [--mutant NAME|all|today] [--quiet] [--trace]\n",
      std::string(sweep.program).c_str());
  return 2;
}

}  // namespace baton::testing
