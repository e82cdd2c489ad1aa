#include "app/launch.h"

#include <algorithm>
#include <array>

#include "base/placeholders.h"
#include "base/text.h"

namespace baton {
namespace {

/// Filled in by Agents::prepare, which makes the run id.
constexpr std::array kLate = {std::string_view("run_id"), std::string_view("run_dir"),
                              std::string_view("prompt_file")};

std::map<std::string, std::string> values_of(const Start& start, const Brief& brief,
                                             const Environment& environment) {
  std::map<std::string, std::string> values = brief.values;
  values["root"] = environment.root;
  values["flow"] = text(start.key.flow);
  values["flow_name"] = start.key.flow.name;
  values["role"] = start.key.role;
  values["subject"] = start.key.subject;
  values["purpose"] = start.desired.purpose;
  values["attempt"] = std::to_string(start.attempt);
  values["state_file"] = brief.state_file.empty() ? "" : environment.root + "/" + brief.state_file;
  values["brief"] = brief.prompt;
  for (const std::string_view name : kLate)
    values[std::string(name)] = "${" + std::string(name) + "}";
  return values;
}

Result<std::string> argument(const std::string& text,
                             const std::map<std::string, std::string>& values) {
  auto filled = fill(text, values);
  if (!filled)
    return filled;
  if (filled->find('\0') != std::string::npos)
    return fail(Errc::denied, "a value with a NUL in it cannot be an argument");
  if (text.starts_with("${") && filled->starts_with("-"))
    return fail(Errc::denied, "the value `" + printable(*filled, 80) + "` for `" + text +
                                  "` would be taken for an option; put `--` and a prefix before it "
                                  "or pass it by the environment");
  return filled;
}

/// Names from a plan may choose a folder, but not where the folders lie.
Result<std::string> working_directory(const std::string& text,
                                      const std::map<std::string, std::string>& values) {
  auto filled = fill(text, values);
  if (filled && ("/" + *filled + "/").find("/../") != std::string::npos &&
      ("/" + text + "/").find("/../") == std::string::npos)
    return fail(Errc::denied, "the working directory `" + printable(*filled, 200) +
                                  "` would lead out of where the configuration has it");
  return filled;
}

}  // namespace

const std::vector<std::string>& placeholder_names() {
  static const std::vector<std::string> names = {
      "attempt", "brief", "flow",    "flow_name", "prompt_file", "purpose",
      "role",    "root",  "run_dir", "run_id",    "state_file",  "subject"};
  return names;
}

Result<Launch> launch_of(const Start& start, const AgentSpec& spec, const Brief& brief,
                         const Environment& environment) {
  const auto values = values_of(start, brief, environment);
  Launch launch;
  launch.key = start.key;
  launch.attempt = start.attempt;
  launch.limits = start.desired.limits.value_or(spec.limits);
  const auto& argv = start.desired.action ? start.desired.action->argv : spec.argv;
  for (const std::string& text : argv) {
    // A dialect's own action is complete; only configured commands have placeholders.
    auto filled = start.desired.action ? Result<std::string>(text) : argument(text, values);
    if (!filled)
      return pass_on(filled);
    launch.argv.push_back(std::move(*filled));
  }
  const std::string& usual = brief.cwd.empty() ? environment.root : brief.cwd;
  if (auto cwd = working_directory(spec.cwd.empty() ? usual : spec.cwd, values))
    launch.cwd = std::move(*cwd);
  else
    return pass_on(cwd);
  for (const std::string& text : spec.before) {
    auto filled = argument(text, values);
    if (!filled)
      return pass_on(filled);
    launch.before.push_back(std::move(*filled));
  }
  launch.before_cwd = environment.root;
  launch.before_timeout = spec.before_timeout;
  if (start.desired.action) {
    launch.prompt = start.desired.action->input;
  } else {
    const std::string& form = brief.form.empty() ? spec.prompt : brief.form;
    auto prompt = form.empty() ? Result<std::string>(brief.prompt) : fill(form, values);
    if (!prompt)
      return pass_on(prompt);
    launch.prompt = std::move(*prompt);
  }
  launch.log = brief.log;
  // What comes later takes the place of what was there, as in a program's own environment.
  const auto put = [&](const std::string& name, std::string value) {
    std::erase_if(launch.env, [&](const auto& row) { return row.first == name; });
    launch.env.emplace_back(name, std::move(value));
  };
  for (const auto* const some : {&spec.env, &brief.env})
    for (const auto& [name, value] : *some)
      put(name, value);
  put("BATON_ROOT", environment.root);
  put("BATON_FLOW", text(start.key.flow));
  put("BATON_ROLE", start.key.role);
  put("BATON_SUBJECT", start.key.subject);
  put("BATON_PURPOSE", start.desired.purpose);
  put("BATON_ATTEMPT", std::to_string(start.attempt));
  put("BATON_STATE_FILE", values.at("state_file"));
  put("BATON_EXE", environment.executable);
  for (const auto& [name, value] : launch.env)
    if (value.find('\0') != std::string::npos)
      return fail(Errc::denied, "a value with a NUL in it cannot be put into " + name);
  return launch;
}

}  // namespace baton
