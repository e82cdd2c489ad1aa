// SPDX-License-Identifier: Apache-2.0
#include "dialects/agent_run/files.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/schema/pattern.h"
#include "base/text.h"
#include "dialects/agent_run/agent_run.h"
#include "dialects/kinds.h"

namespace baton::agent_run {
namespace {

FileKind kind(std::string name, std::string pattern, Format format = Format::json) {
  FileKind result = file_kind("agent_run", std::move(name), std::move(pattern), format);
  // Reports and decisions come and go, so only the run state is essential.
  result.essential = result.kind == "run_state";
  // The original allows any name for a run.
  result.names = PatternNames::plain;
  return result;
}

bool is_id_character(char c) {
  return is_letter(c) || is_digit(c) || std::string_view("_.- ").find(c) != std::string_view::npos;
}

/// Whether the text has characters that a person does not see. They hide text or turn its
/// direction.
bool has_hidden(std::string_view text) {
  static const auto hidden =
      Pattern::compile(R"([\u0080-\u009f\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff])");
  return hidden && hidden->search(text).match == Pattern::Match::yes;
}

}  // namespace

std::string runs_folder(const Json& options) {
  std::string path(json::text(*options, "path").value_or(".agents/runs"));
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
  return path;
}

std::vector<FileKind> files(const Json& options) {
  const std::string run = runs_folder(options) + "/{flow}/";
  FileKind prompt = kind("prompt", run + "prompts/{part}.md", Format::text);
  prompt.schema.clear();
  return {kind("run_state", run + "run_state.json"),
          kind("report", run + "reports/{flow}__{part}.json"),
          kind("manual_input", run + "manual_inputs/{flow}__{part}.json"),
          kind("workflow", run + "workflow.yaml", Format::yaml),
          std::move(prompt),
          kind("gate_state", run + "gate_state.json"),
          kind("loop_items", run + "loop_items/{part}.json")};
}

RunFile run_file_of(const Json& options, std::string_view kind, std::string_view path) {
  auto match = match_kind(files(options), kind, path);
  return match ? RunFile{std::move(match->flow), std::move(match->part), runs_folder(options)}
               : RunFile{};
}

RunPaths::RunPaths(const View& view) : root_(view.env.root), flow_(view.flow.name) {
  constexpr std::string_view kAgents = "/.agents/";
  const std::string path = runs_folder(view.options);
  if (const auto at = ("/" + path + "/").find(kAgents); at != std::string::npos)
    prefix_ = path.substr(0, at);
  repository_ = root_;
  if (!prefix_.empty())
    repository_ += "/" + prefix_.substr(0, prefix_.size() - 1);
  run_ = path + "/" + flow_ + "/";
}

std::string RunPaths::absolute(std::string_view relative) const {
  return root_ + "/" + std::string(relative);
}

std::string RunPaths::relative(const std::string& path) const {
  return path.starts_with('/') && within(path, repository_) && path.size() > repository_.size()
             ? path.substr(repository_.size() + 1)
             : path;
}

std::string RunPaths::name(std::string_view step) const {
  return flow_ + "__" + file_part(step);
}

std::string RunPaths::prompt(std::string_view step) const {
  return run_ + "prompts/" + file_part(step) + ".md";
}

std::string RunPaths::report(std::string_view step) const {
  return reports() + "/" + name(step) + ".json";
}

std::string RunPaths::manual_input(std::string_view step) const {
  return manual_inputs() + "/" + name(step) + ".json";
}

std::string RunPaths::log_name(std::string_view step, std::string_view which) const {
  return name(step) + "__" + std::string(which) + ".log";
}

std::string RunPaths::archived_report(std::string_view step, std::string_view label) const {
  return reports() + "/archive/" + name(step) + "__" + std::string(label) + ".json";
}

std::string RunPaths::archived_input(std::string_view step, std::string_view label) const {
  return manual_inputs() + "/archive/" + name(step) + "__" + std::string(label) + ".json";
}

std::string id_fault(std::string_view id) {
  constexpr std::size_t kMaxBytes = 100;
  if (id.empty() || id == "." || id == "..")
    return "it is not a name";
  if (id.size() > kMaxBytes)
    return "it is longer than 100 bytes";
  const auto* const bad = std::find_if(id.begin(), id.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x80 && !is_id_character(c);
  });
  if (bad != id.end())
    return "the character '" + printable(std::string_view(&*bad, 1)) + "' is not allowed";
  return has_hidden(id) ? "it contains an invisible character" : "";
}

std::string file_part(std::string_view id) {
  if (safe_name(id))
    return std::string(id);
  constexpr std::size_t kDigits = 8;
  std::string part(id);
  for (char& c : part)
    if (!safe_name(std::string("a") + c))
      c = '_';
  if (part.empty() || !safe_name(part.substr(0, 1)))
    part = "s" + part;
  return part + "-" + hex(digest_of(id)).substr(0, kDigits);
}

bool within(std::string_view path, std::string_view folder) {
  while (folder.ends_with('/'))
    folder.remove_suffix(1);
  if (!path.starts_with(folder) || (path.size() > folder.size() && path[folder.size()] != '/'))
    return false;
  const auto parts = split(path, '/');
  return std::find(parts.begin(), parts.end(), "..") == parts.end();
}

bool leaves_folder(std::string_view path) {
  const std::string whole = normalized(path);
  return whole.starts_with('/') || whole == ".." || whole.starts_with("../");
}

std::string gate_text(const Value& gate) {
  const auto member = gate.MemberBegin();
  const auto text = json::text(member->value);
  return std::string(member->name.GetString()) + ": " +
         (text ? std::string(*text) : json::dump(member->value));
}

}  // namespace baton::agent_run
