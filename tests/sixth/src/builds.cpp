// SPDX-License-Identifier: Apache-2.0
#include "builds.h"

#include <array>
#include <string>
#include <utility>

#include "dialects/findings.h"
#include "dialects/kinds.h"

namespace baton {
namespace {

constexpr std::int64_t kTries = 3;
constexpr std::array kPlaceholders = {std::string_view("target"), std::string_view("try")};

std::string folder(const Json& options) {
  return std::string(json::text(*options, "path").value_or("builds"));
}

std::vector<FileKind> files(const Json& options) {
  FileKind result = file_kind("builds", "result", folder(options) + "/results/{flow}.json");
  result.essential = false;
  return {file_kind("builds", "job", folder(options) + "/{flow}.json"), std::move(result)};
}

std::string job_path(const View& view) {
  return folder(view.options) + "/" + view.flow.name + ".json";
}

const Document* document(const View& view, const std::string& path) {
  const auto found = view.docs.find(path);
  return found == view.docs.end() || !found->second.present ? nullptr
                                                            : found->second.document.get();
}

std::int64_t tries(const Value& job) {
  return json::integer(job, "tries").value_or(0);
}

/// `queued` and `building` are one job of one builder.
Stages stages(const View& view) {
  const Document* const job = document(view, job_path(view));
  if (job == nullptr)
    return {};
  const Word state(json::text(job->root(), "state").value_or(""));
  const std::int64_t begun = tries(job->root()) - (state == "building" ? 1 : 0);
  const bool open = state == "queued" || state == "building";
  return {{"main", open ? "try " + std::to_string(begun + 1) : state}};
}

const Run* builder(const View& view) {
  const auto stage = view.stages.find("main");
  const Run* newest = nullptr;
  for (const Run& run : view.runs)
    if (stage != view.stages.end() && run.key.generation == stage->second.generation)
      newest = &run;
  return newest;
}

/// Why the build failed; empty when it did not.
std::string failure(const View& view, const Value& job, const Run& run) {
  const Document* const result =
      document(view, folder(view.options) + "/results/" + view.flow.name + ".json");
  const bool told = result != nullptr && json::integer(result->root(), "try") == tries(job);
  if (told && json::boolean(result->root(), "ok") == false)
    return std::string(json::text(result->root(), "error").value_or("its result says so"));
  if (run.outcome == Outcome::succeeded)
    return {};
  return "the builder ended as " + std::string(word(run.outcome)) +
         (run.reason.empty() ? "" : " (" + run.reason + ")");
}

void set(const View& view, const Document& job, std::vector<json::Edit> edits, std::string why,
         Decision& decision) {
  decision.updates.emplace_back(
      SetMembers{job_path(view), job.digest(), std::move(edits), std::move(why)});
}

void settle(const View& view, const Document& job, const Run& run, Decision& decision) {
  const std::string error = failure(view, job.root(), run);
  if (error.empty())
    return set(view, job, {{"/state", "\"built\""}, {"/error", ""}}, "the builder ended well",
               decision);
  const auto most = json::integer(*view.options, "tries").value_or(kTries);
  const bool again = tries(job.root()) < most;
  set(view, job, {{"/state", again ? "\"queued\"" : "\"broken\""}, {"/error", json::quote(error)}},
      "try " + std::to_string(tries(job.root())) + " failed", decision);
}

Decision decide(const View& view) {
  Decision decision;
  const Document* const job = document(view, job_path(view));
  if (job == nullptr)
    return decision;
  decision.declared = json::text(job->root(), "state").value_or("");
  if (decision.declared == "broken")
    decision.standing = {Reason::declared, "the build has failed", command("start", view.flow), {}};
  if (decision.declared == "built")
    decision.standing = {{Condition::done, Reason::none}, "it is built", "", {}};
  const Run* const run = builder(view);
  const bool began = run != nullptr && run->outcome != Outcome::voided;
  if (decision.declared == "queued" && began)
    set(view, *job,
        {{"/state", "\"building\""}, {"/tries", std::to_string(tries(job->root()) + 1)}},
        "the builder begins", decision);
  if (decision.declared == "building" && began && !run->live() &&
      run->outcome != Outcome::stopped && run->outcome != Outcome::interrupted)
    settle(view, *job, *run, decision);
  if (decision.declared == "queued" || decision.declared == "building") {
    Desired desired;
    desired.role = "builder";
    desired.subject = "main";
    desired.purpose = "build";
    desired.why = view.flow.name + " is " + decision.declared;
    decision.desired.push_back(std::move(desired));
  }
  return decision;
}

Findings check(const std::string& /*path*/, const Accepted& accepted, const Json& /*options*/,
               std::optional<Time> /*wall*/) {
  FindingList findings("builds");
  const Value& job = accepted.document->root();
  if (accepted.kind == "job" && json::text(job, "state") != "queued" && tries(job) == 0)
    findings.error("B1", "/state", "nothing was tried, and the job is further than queued",
                   json::at(job, "/state"), "\"queued\", or tries of at least 1");
  return findings.take();
}

Brief brief(const View& view, const Desired& desired) {
  Brief brief;
  brief.state_file = job_path(view);
  const Document* const job = document(view, brief.state_file);
  brief.values["target"] =
      job == nullptr ? "" : std::string(json::text(job->root(), "target").value_or(""));
  brief.values["try"] = std::to_string(job == nullptr ? 1 : tries(job->root()) + 1);
  brief.prompt =
      "You are the agent `" + desired.role + "`. Build " + brief.values["target"] + ".\n";
  return brief;
}

}  // namespace

const Dialect& builds_dialect() {
  static const Dialect dialect = {
      .name = "builds",
      .files = files,
      .check = check,
      .stages = stages,
      .decide = decide,
      .brief = brief,
      .placeholders = kPlaceholders,
  };
  return dialect;
}

}  // namespace baton
