// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/start_workflow.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "base/text.h"
#include "cli/submit_request.h"
#include "config/config.h"
#include "engine/intake/document_check.h"
#include "io/files/disk.h"
#include "io/files/fd.h"
#include "io/system/state_folder.h"
#include "workspace/folders.h"
#include "workspace/kind_choice.h"
#include "workspace/output.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxInputText = 1U << 20U;
constexpr std::string_view kUsual = ".agents/runs";

struct File {
  std::string path;  ///< absolute, without links
  std::shared_ptr<const Document> document;
};

/// Reads and checks a workflow. Reports faults with their places.
Result<File> read_workflow(const std::string& name, const Context& context,
                           const Catalog& catalog) {
  auto path = real_path(name);
  if (!path)
    return pass_on(path);
  auto text = read_file(*path, kMaxInputText);
  if (!text)
    return pass_on(text);
  auto choice = KindChoice::named(catalog, "agent_run/workflow");
  if (!choice)
    return pass_on(choice);
  Schemas schemas(schemas_below(context.folder()));
  const DocumentCheck checked = check_document(choice->match(name), name, *std::move(text), schemas,
                                               load_limits(context.config()));
  for (const Finding& finding : checked.findings)
    complain((finding.severity == Severity::warning ? "warning: " : "") + describe(finding, name));
  if (!checked.accepted())
    return fail(Errc::schema, "the workflow is not valid, so nothing was started", name);
  return File{*std::move(path), checked.document};
}

/// Errc::denied: the file is neither below the repository nor below the folder of the workflow,
/// because of a `..` or a link.
Result<void> check_inside(const fs::path& place, const std::string& reference,
                          const std::string& workflow, const std::string& repository) {
  std::error_code error;
  const std::string real = fs::canonical(place, error).string();
  for (const fs::path& folder : {fs::path(repository), fs::path(workflow).parent_path()})
    if (!error && real.starts_with(fs::canonical(folder, error).string() + "/") && !error)
      return {};
  return fail(Errc::denied,
              "the prompt leads out of the repository " + repository + ", to " + real +
                  "; copy the file into the repository, or write its absolute path",
              reference);
}

/// Reads a prompt from the first place that has it.
Result<std::string> prompt_text(const std::string& reference, const std::string& workflow,
                                const std::string& repository) {
  const fs::path given(reference);
  std::vector<fs::path> places;
  if (given.is_absolute())
    places.push_back(given);
  places.push_back(fs::path(repository) / ".agents/prompts" / given.filename());
  if (given.is_relative()) {
    places.push_back(fs::path(workflow).parent_path() / given);
    places.push_back(fs::path(repository) / given);
  }
  std::vector<std::string> tried;
  for (const fs::path& place : places) {
    std::error_code error;
    if (!fs::is_regular_file(place, error)) {
      tried.push_back(place.lexically_normal().string());
      continue;
    }
    // A person can see where an absolute path leads.
    if (place != given)
      if (auto inside = check_inside(place, reference, workflow, repository); !inside)
        return pass_on(inside);
    return read_file(place.string(), kMaxInputText);
  }
  return fail(Errc::not_found, "there is no such prompt; looked for " + join(tried, ", "),
              reference);
}

Result<Json> prompts_of(const File& file, const std::string& repository) {
  Json all = Json::object();
  const Value* const steps = json::child(file.document->root(), "steps");
  for (const Value& step : steps->GetArray()) {
    const std::string id(json::text(step, "id").value_or(""));
    auto text =
        prompt_text(std::string(json::text(step, "prompt").value_or("")), file.path, repository);
    if (!text)
      return pass_on(text);
    if (bad_utf8(*text))
      return fail(Errc::usage, "the prompt of the step " + id + " is not UTF-8 text");
    all.set(id, *text);
  }
  return all;
}

/// The repository that has the configured folder of runs: what comes before `/.agents/runs` in the
/// path. For any other path it is the root.
std::string repository_of(const Context& context, const Catalog::Entry& entry) {
  std::string path(json::text(*entry.options, "path").value_or(kUsual));
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
  if (!path.ends_with("/" + std::string(kUsual)))
    return context.root();
  return context.root() + "/" + path.substr(0, path.size() - kUsual.size() - 1);
}

Result<void> check_repository(const std::string& given, const std::string& repository) {
  if (given.empty())
    return {};
  std::error_code error;
  if (!fs::is_directory(given, error))
    return fail(Errc::not_found, "there is no such repository", given);
  auto real = real_path(given);
  if (!real)
    return pass_on(real);
  if (*real == repository)
    return {};
  return fail(
      Errc::usage,
      "this root runs workflows over " + repository + ", not over " + *real +
          "; name that repository with --root, or set `path` below `agent_run` in baton.yaml");
}

/// The newest run of a workflow.
std::optional<FlowId> newest_run(const Rehearsal& seen, std::string_view workflow) {
  std::optional<FlowId> newest;
  std::string begun;
  for (const auto& [flow, record] : seen.records()) {
    if (flow.dialect != kWorkflowDialect)
      continue;
    for (const auto& [path, row] : record.accepted) {
      if (row.kind != "run_state")
        continue;
      const auto bytes = seen.read(path);
      const auto state = bytes ? parse_json(bytes->bytes) : Result<Json>(Json());
      if (!state || json::text(**state, "workflow_name") != workflow)
        continue;
      const std::string created(json::text(**state, "created_at").value_or(""));
      if (!newest || created > begun) {
        newest = flow;
        begun = created;
      }
    }
  }
  return newest;
}

Result<void> add_counts(const WorkflowWords& words, Request& request) {
  if (auto added = add_count("--max-attempts", words.max_attempts, request); !added)
    return added;
  if (auto added = add_count("--max-iterations", words.max_iterations, request); !added)
    return added;
  if (words.pause_for_human_input)
    request.arguments.set("pause_for_human_input", true);
  if (!words.start_at_step.empty())
    request.arguments.set("start_at_step", words.start_at_step);
  return {};
}

/// Makes the path absolute, because the daemon works in another folder.
std::string from_here(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  return error ? path : whole.lexically_normal().string();
}

/// The same as `--set ISSUE_NUMBER=N`.
Result<void> add_issue(const WorkflowWords& words, Json& arguments) {
  const std::string& number = words.issue_number;
  if (number.empty())
    return {};
  if (!plain_name(number))
    return fail(
        Errc::usage,
        "--issue-number becomes part of a file name: use letters, digits, `.`, `_` and `-`, not `" +
            printable(number, 40) + "`");
  const Value* const before = json::child(*arguments, "set");
  Json set = before == nullptr ? Json::object() : Json(*before);
  arguments.set("set", set.set("ISSUE_NUMBER", Json(number)));
  return {};
}

/// The part of the path that exists and is not a folder; "" when there is none.
std::string in_the_way(const fs::path& folder) {
  std::error_code error;
  fs::path at;
  for (const fs::path& part : folder) {
    at /= part;
    const fs::file_status status = fs::status(at, error);
    if (fs::exists(status) && !fs::is_directory(status))
      return at.string();
  }
  return {};
}

Result<void> add_places(const WorkflowWords& words, const Context& context, Json& arguments) {
  if (!words.logs_dir.empty()) {
    // Resolve links now: if an agent makes a link there later, no log is written.
    auto folder = real_path(from_here(words.logs_dir));
    if (!folder)
      return pass_on(folder);
    if (const std::string other = in_the_way(*folder); !other.empty())
      return fail(Errc::usage,
                  "cannot create a folder for the logs there: " + other + " is not a folder",
                  *folder);
    arguments.set("logs_dir", *folder);
  }
  if (words.gate_state_file.empty())
    return {};
  const fs::path given = from_here(words.gate_state_file);
  // The file may not exist yet, so resolve the links of its folder.
  auto folder = real_path(given.parent_path().string());
  if (!folder)
    return pass_on(folder);
  const std::string path = *folder + "/" + given.filename().string();
  if (!below(context.root(), path))
    return fail(Errc::usage, "the gate state file must be below " + context.root(), path);
  arguments.set("gate_state_file", path);
  return {};
}

Result<FlowId> flow_of(const File& file, const WorkflowWords& words, const Rehearsal& seen) {
  const std::string_view name = json::text(file.document->root(), "name").value_or("unnamed");
  std::string id = words.run_id;
  if (id.empty() && !words.start_at_step.empty()) {
    auto newest = newest_run(seen, name);
    if (!newest)
      return fail(Errc::usage,
                  "there is no run of the workflow " + printable(name, 80) + " to continue");
    return *newest;
  }
  constexpr std::size_t kBytes = 4;
  if (id.empty())
    id = random_hex(kBytes);
  if (!plain_name(id))
    return fail(Errc::usage, "a run id consists of letters, digits, `.`, `_` and `-`, not `" +
                                 printable(id, 80) + "`");
  return FlowId{std::string(kWorkflowDialect), id};
}

}  // namespace

std::string root_of_repository(const std::string& repository) {
  std::error_code error;
  const fs::path from = fs::canonical(repository, error);
  if (error)
    return {};
  for (fs::path folder = from;; folder = folder.parent_path()) {
    if (fs::is_regular_file(folder / "baton.yaml", error))
      return folder.string();
    if (folder == folder.parent_path())
      return from.string();
  }
}

bool names_workflow(const std::string& name) {
  std::error_code error;
  return (name.ends_with(".yaml") || name.ends_with(".yml")) && !fs::is_directory(name, error);
}

Result<void> add_workflow(const std::string& name, const WorkflowWords& words,
                          const Context& context, const Rehearsal& seen, Request& request) {
  const Catalog::Entry* const entry = seen.catalog().entry(kWorkflowDialect);
  if (entry == nullptr)
    return fail(Errc::usage,
                "workflows need their dialect in baton.yaml: `dialects: { agent_run: {} }`");
  const std::string repository = repository_of(context, *entry);
  if (auto fine = check_repository(words.repo, repository); !fine)
    return fine;
  if (auto added = add_counts(words, request); !added)
    return added;
  if (auto added = add_places(words, context, request.arguments); !added)
    return added;
  if (auto added = add_issue(words, request.arguments); !added)
    return added;
  if (!names_workflow(name)) {
    if (!words.run_id.empty())
      return fail(Errc::usage, "--run-id needs a workflow file; `" + printable(name, 80) +
                                   "` is the name of a run");
    for (const FlowId& flow : seen.flows())
      if (flow.dialect == kWorkflowDialect && (flow.name == name || text(flow) == name)) {
        request.flow = flow;
        return {};
      }
    return fail(Errc::usage,
                "there is no run " + printable(name, 80) +
                    "; `baton status` lists the runs, and a workflow file starts a new one");
  }
  auto file = read_workflow(name, context, seen.catalog());
  if (!file)
    return pass_on(file);
  auto flow = flow_of(*file, words, seen);
  if (!flow)
    return pass_on(flow);
  auto prompts = prompts_of(*file, repository);
  if (!prompts)
    return pass_on(prompts);
  request.flow = *std::move(flow);
  request.arguments.set("workflow", file->document->text());
  request.arguments.set("workflow_path", file->path);
  request.arguments.set("prompts", *prompts);
  // A request is one file of limited size.
  constexpr std::size_t kMost = 900'000;
  if (const std::size_t size = request.arguments.dump().size(); size > kMost)
    return fail(Errc::usage, "workflow and prompts together have " + std::to_string(size) +
                                 " bytes, but at most " + std::to_string(kMost) +
                                 " are possible; let the prompts name files that the agents read");
  return {};
}

}  // namespace baton
