// SPDX-License-Identifier: Apache-2.0
#include "workspace/context.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include <unistd.h>

#include "base/embedded.h"
#include "base/schema/uri.h"
#include "base/text.h"
#include "config/registry.h"
#include "config/schema_stages.h"
#include "dialects/fsm_loop/shell_access.h"
#include "engine/intake/document_check.h"
#include "io/files/disk.h"
#include "io/files/lock.h"
#include "io/journal/journal.h"
#include "io/system/process.h"
#include "io/system/time_zones.h"
#include "workspace/acting_user.h"
#include "workspace/agent_spec.h"
#include "workspace/configuration_file.h"
#include "workspace/environment.h"
#include "workspace/folders.h"
#include "workspace/output.h"
#include "workspace/rule_prompts.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

/// The embedded schema with this `$id`; nullptr if there is none.
const std::string_view* own_schema(std::string_view uri) {
  constexpr std::string_view kPrefix = "urn:baton:schema:";
  if (!uri.starts_with(kPrefix))
    return nullptr;
  std::string name(uri.substr(kPrefix.size()));
  std::replace(name.begin(), name.end(), ':', '/');
  return embedded_file("schemas/" + name + ".schema.json");
}

std::string unknown_dialect(const std::string& name) {
  std::vector<std::string> names;
  for (const Dialect* const each : dialects())
    names.emplace_back(each->name);
  const auto near = nearest(name, names);
  return "this baton has no dialect `" + printable(name, 80) + "`" +
         (near ? "; did you mean `" + *near + "`?" : ", only " + join(names, ", "));
}

/// Errc::schema and others: a schema of the dialect cannot be used.
Result<void> check_schemas(const Dialect& dialect, const Json& options, const std::string& folder) {
  Schemas schemas(schemas_below(folder));
  const Catalog catalog = Catalog::of({{&dialect, options}});
  for (const Catalog::Entry& entry : catalog.entries())
    for (const FileKind& kind : entry.kinds)
      if (!kind.schema.empty())
        if (auto schema = schemas.get(kind.schema); !schema)
          return pass_on(schema);
  return {};
}

/// Makes the folders of the option `library` absolute. Returns what keeps one from being used, by
/// its pointer in the configuration.
std::map<std::string, std::string> find_libraries(Config& config, const std::string& folder) {
  std::map<std::string, std::string> faults;
  for (auto& [name, options] : config.dialects) {
    const Value* const list = options.is_null() ? nullptr : json::child(*options, "library");
    if (list == nullptr || !list->IsArray())
      continue;
    Json folders = Json::array();
    for (const Value& each : list->GetArray()) {
      const std::string path = absolute(each.GetString(), folder);
      std::error_code error;
      const auto real = std::filesystem::canonical(path, error);
      if (error || !std::filesystem::is_directory(real, error))
        faults.emplace(
            "/dialects/" + name + "/library",
            "`library` names " + printable(path, 300) + ", which is no folder that can be read");
      folders.push(error ? path : real.string());
    }
    options.set("library", folders);
  }
  return faults;
}

/// Null if the dialect is not configured.
Json options_of(const Config& config, std::string_view dialect) {
  const auto found = std::find_if(config.dialects.begin(), config.dialects.end(),
                                  [&](const auto& row) { return row.first == dialect; });
  return found == config.dialects.end() ? Json() : found->second;
}

Environment environment_of(const std::string& root, const std::string& folder) {
  Environment environment{.root = root, .configuration_folder = folder, .executable = own_path()};
  for (auto& [name, value] : variables())
    environment.variables.emplace(std::move(name), std::move(value));
  environment.pid = getpid();
  environment.alive = [](std::int64_t pid) {
    const auto process = process_stat(pid);
    return process && process->alive();
  };
  environment.real_path = [](const std::string& path) {
    std::error_code error;
    const auto real = std::filesystem::weakly_canonical(path, error);
    return error ? path : real.string();
  };
  return environment;
}

}  // namespace

/// What the four ways to open a context differ in.
struct Context::Opening {
  bool follow = false;  ///< use the configuration of the running daemon
  bool anyway = false;  ///< go on if the configuration cannot be used
  bool quiet = false;   ///< print no faults
  bool state = true;    ///< the command works on the state of the root
  bool data = false;    ///< the configuration may belong to another user
  std::string here;     ///< "": the current folder
};

Result<Context> Context::open(const Places& places) {
  return open(places, Opening{.state = false});
}

Result<Context> Context::open_as_data(const Places& places) {
  return open(places, Opening{.state = false, .data = true});
}

Result<Context> Context::open_with_state(const Places& places) {
  return open(places, Opening{});
}

Result<Context> Context::open_active(const Places& places, const std::string& here, bool as_data) {
  // Root would write into a folder of another user.
  return open(places, Opening{.follow = true, .data = as_data && geteuid() != 0, .here = here});
}

Result<Context> Context::open_anyway(const Places& places) {
  return open(places, Opening{.follow = true, .anyway = true});
}

Result<Context> Context::open_to_show(const Places& places) {
  return open(places, Opening{.follow = true, .anyway = true, .data = true});
}

Result<Context> Context::open_to_examine(const Places& places) {
  return open(places, Opening{.anyway = true, .quiet = true});
}

Result<Context> Context::open(const Places& places, const Opening& opening) {
  Context context;
  context.places_ = places;
  context.anyway_ = opening.anyway;
  context.as_data_ = opening.data;
  std::error_code error;
  const std::string here = opening.here.empty() ? fs::current_path(error).string() : opening.here;
  if (error && places.root.empty())
    return fail(Errc::not_found, "the current folder is gone");
  if (opening.state)
    if (auto acting = act_as_owner_of_state(places, here); !acting)
      return pass_on(acting);
  auto root = existing_folder(places.root.empty() ? nearest_root(here) : places.root);
  // The root is gone. A command can still show and stop the agents that run on it.
  if (!root && opening.anyway && context.is_known(places.root)) {
    warn_once(printable(describe(root.error())) + "; what is known of it is in the journal");
    root = real_path(places.root);
  }
  if (!root)
    return pass_on(root);
  context.root_ = *root;
  context.home_ = *root;
  context.folder_ = *root;
  context.file_ = find_configuration(places, *root, here, opening.data);
  if (auto configured = context.find_active_configuration(opening); !configured)
    return pass_on(configured);
  if (auto found = context.find_roots(here); !found)
    return pass_on(found);
  // The broken configuration does not say which roots it has or where their state lies. The current
  // folder is no good guess, unless the configuration lies in it and a daemon has served it.
  if (opening.anyway && !opening.quiet && places.root.empty() &&
      !context.broken_configuration_.empty() && !context.follows_ && !context.knows_places_ &&
      !((context.file_ == context.root_ + "/" + kConfigurationName ||
         context.file_ == instance_configuration(context.root_)) &&
        context.is_known(context.root_)))
    return fail(Errc::io,
                "cannot be used, so it is not known which roots it is for; mend it, or name one "
                "with --root, and with --state-dir where the state lies if it is not in the usual "
                "place",
                context.broken_configuration_);
  return context;
}

namespace {

/// A configuration that is not there or may not be read does not come by waiting.
tl::unexpected<Error> for_a_person(const Error& error) {
  if (error.code == Errc::not_found)
    return fail(Errc::config, "there is no such configuration", error.where);
  const bool denied = error.code == Errc::denied || error.code == Errc::not_regular;
  return fail(denied ? Errc::config : error.code, error.message, error.where);
}

}  // namespace

Result<void> Context::find_active_configuration(const Opening& opening) {
  auto done = file_.empty() ? Result<void>() : read(file_);
  const auto followed = opening.follow ? follow_daemon() : Result<void>();
  if (!followed && !opening.anyway)
    return followed;
  if (!followed)
    warn_once(printable(describe(followed.error())));
  if (foreign_ && opening.anyway && !configuration_.empty() && !follows_)
    if (const auto trusted = trusted_configuration(file_); !trusted)
      warn_once(printable(describe(trusted.error())) + "; it is only read here");
  // What this user asks for would be done in state of its own, which the owner never uses.
  if (of_other_ && !done && !foreign_ && opening.anyway && !opening.quiet && !follows_ &&
      !is_known(root_))
    return done;
  // `open_to_examine` judges a configuration without faults as strictly as a daemon does.
  if (opening.quiet)
    anyway_ = !done;
  // The daemon uses this very text, and only this user does not trust the file. Nothing is broken.
  if (done || (!configuration_.empty() && configuration_digest_ == file_digest_))
    return {};
  if (opening.quiet && faults_.empty())
    faults_ = {describe(done.error())};
  // A --config that names no file is a typing mistake, so it is an error even for `open_anyway`.
  const bool slip = done.error().code == Errc::not_found && !places_.config.empty();
  if (!follows_ && !opening.anyway)
    for (const std::string& fault : faults_)
      complain(fault);
  if (!follows_ && (!opening.anyway || slip))
    return for_a_person(done.error());
  broken_configuration_ = file_;
  if (opening.anyway && !opening.quiet)
    warn_of_faults(done.error());
  return {};
}

void Context::warn_of_faults(const Error& error) const {
  for (const std::string& fault : faults_)
    complain_once(fault);
  warn_once(printable(describe(error)) +
            (follows_ ? "; the daemon goes on with the last good one" : "; going on without it"));
}

Result<void> Context::all_there() const {
  if (missing_roots_.empty())
    return {};
  const std::string& first = missing_roots_.front();
  auto there = existing_folder(first);
  return there ? fail(Errc::not_found, "there was no such folder", first)
               : Result<void>(pass_on(there));
}

bool Context::is_known(const std::string& root) const {
  const auto state = find_state_folder(root, state_parents());
  std::error_code error;
  return state && (daemon_lives(*state) || fs::exists(journal_path(*state), error));
}

/// The configured roots that exist. With `anyway_`, also those that are gone and that a daemon
/// serves or has served. Puts the others into `missing_roots_`.
std::vector<std::string> Context::configured_roots() {
  std::vector<std::string> roots;
  for (const std::string& each : config_.roots) {
    auto one = existing_folder(absolute(each, folder_));
    if (one && std::find(roots.begin(), roots.end(), *one) == roots.end())
      roots.push_back(*std::move(one));
    else if (one)
      continue;
    else if (!anyway_)
      missing_roots_.push_back(absolute(each, folder_));
    else if (const std::string path = absolute(each, folder_); is_known(path)) {
      warn_once(printable(describe(one.error())) + "; what is known of it is in the journal");
      roots.push_back(real_path(path).value_or(path));
    } else {
      warn_once(printable(describe(one.error())));
      missing_roots_.push_back(real_path(path).value_or(each));
    }
  }
  return roots;
}

/// Sets the roots of the configuration, and which of them the command works on.
Result<void> Context::find_roots(const std::string& here) {
  roots_ = {root_};
  if (!places_.root.empty())
    return {};
  if (config_.roots.empty()) {
    if (anyway_)
      add_served(roots_);
    return {};
  }
  // Another user wrote this list, so it may name any folder.
  const auto strange =
      std::find_if(config_.roots.begin(), config_.roots.end(), [this](const std::string& each) {
        const auto real = real_path(absolute(each, folder_));
        return !as_data_ || !real || (*real != folder_ && !below(folder_, *real));
      });
  if (foreign_ && strange != config_.roots.end())
    return fail(Errc::denied,
                std::string("belongs to another user and names ") +
                    (as_data_ ? "the root " + printable(*strange) + " outside of its folder"
                              : "several roots") +
                    "; name the one you mean with --root",
                configuration_);
  std::vector<std::string> roots = configured_roots();
  if (roots.empty() && !anyway_)
    return all_there();
  // Without this, the command would work on the current folder instead.
  if (roots.empty())
    roots = missing_roots_;
  if (roots.empty())
    return {};
  if (auto apart = check_apart(roots); !apart && !anyway_)
    return apart;
  if (anyway_)
    add_served(roots);
  roots_ = std::move(roots);
  // The command works on the root around the current folder, else on the first one.
  const auto inside = std::find_if(roots_.begin(), roots_.end(), [&](const std::string& each) {
    return each == here || below(each, here).has_value();
  });
  root_ = inside == roots_.end() ? roots_.front() : *inside;
  return {};
}

Result<void> Context::read(const std::string& path) {
  auto real = real_path(path);
  const auto trusted = real ? trusted_configuration(path) : Result<void>();
  foreign_ = as_data_ && !trusted && trusted.error().code == Errc::config;
  of_other_ = real && is_of_other(path);
  auto text = !real                 ? real
              : trusted || foreign_ ? read_file(*real, kMaxConfigurationBytes)
                                    : Result<std::string>(tl::unexpected(trusted.error()));
  if (!text) {
    // Show the path as the user knows it, not the target of its links.
    if (real && text.error().where == *real)
      text.error().where = path;
    // A file that this user does not trust may still be the one that the daemon uses.
    if (const auto bytes = real ? read_file(*real, kMaxConfigurationBytes) : real) {
      file_digest_ = hex(digest_of(*bytes));
      // Do not use places that an untrusted file names. If it names none, the usual places apply.
      const auto said = configured_places(*bytes);
      knows_places_ = said && said->roots.empty() && said->state_dir.empty();
    }
    return pass_on(text);
  }
  file_digest_ = hex(digest_of(*text));
  auto taken = take(*text, Format::yaml, *real, path);
  if (taken) {
    configuration_digest_ = file_digest_;
    text_ = *std::move(text);
  } else {
    take_places(*text, *real);
  }
  if (foreign_)
    config_.state_dir.clear();  // another user's, and nothing here needs state
  return taken;
}

Result<void> Context::take(const std::string& text, Format format, const std::string& real,
                           const std::string& shown) {
  const auto zones = real_time_zones();
  auto parsed = parse_config(text, format, zones.get());
  if (!parsed) {
    faults_.clear();
    for (const Finding& finding : parsed.error())
      // Warnings follow once the errors are corrected.
      if (finding.severity == Severity::error)
        faults_.push_back(describe(finding, shown));
    return fail(Errc::config, "the configuration cannot be used", shown);
  }
  const std::string folder = fs::path(real).parent_path().string();
  if (const auto lost = find_libraries(parsed->config, folder); !lost.empty()) {
    faults_.clear();
    for (const auto& [pointer, why] : lost)
      faults_.push_back(place_of(real, pointer) + ": " + why);
    return fail(Errc::config, "the configuration cannot be used", shown);
  }
  config_ = std::move(parsed->config);
  warnings_ = std::move(parsed->warnings);
  configuration_ = real;
  folder_ = folder;
  if (!config_.state_dir.empty())
    config_.state_dir = absolute(config_.state_dir, folder_);
  if (!config_.metrics.textfile.empty())
    config_.metrics.textfile = absolute(config_.metrics.textfile, folder_);
  return {};
}

void Context::take_places(const std::string& text, const std::string& real) {
  folder_ = fs::path(real).parent_path().string();
  auto said = configured_places(text);
  knows_places_ = said.has_value();
  if (!said)
    return;
  config_.roots = std::move(said->roots);
  if (!said->state_dir.empty())
    config_.state_dir = absolute(said->state_dir, folder_);
}

Result<Context> Context::reread() const {
  Context fresh;
  fresh.places_ = places_;
  fresh.root_ = home_;
  fresh.home_ = home_;
  fresh.folder_ = home_;
  const std::string path =
      configuration_.empty() ? find_configuration(places_, home_, home_) : configuration_;
  // Put all faults into the message: the daemon logs it and answers `baton reload` with it.
  if (auto read = path.empty() ? Result<void>() : fresh.read(path); !read) {
    if (!fresh.faults_.empty())
      read.error().message += ": " + join(fresh.faults_, "; ");
    return pass_on(read);
  }
  if (auto found = fresh.find_roots(home_); !found)
    return pass_on(found);
  return fresh;
}

Result<bool> Context::usable(const Dialect* known, const std::string& name, const Json& options,
                             std::map<std::string, std::string>& left_out) const {
  if (known == nullptr) {
    const std::string message = unknown_dialect(name);
    if (!anyway_)
      return fail(Errc::config, message,
                  place_of(configuration_, "/dialects/" + json::pointer_token(name)));
    warn_once(message + "; going on without it");
    left_out.emplace(name, message);
    return false;
  }
  if (!anyway_)
    return true;
  const auto checked = check_schemas(*known, options, folder_);
  if (checked)
    return true;
  // A running daemon still has the schema that it read earlier.
  const bool borne = daemon().has_value();
  warn_once(describe(checked.error()) + (borne ? "; the daemon goes on with what it read before"
                                               : "; going on without dialect " + name));
  if (!borne)
    left_out.emplace(name, describe(checked.error()));
  return borne;
}

Result<void> Context::add_dialects(Setup& setup) const {
  for (const auto& [name, options] : config_.dialects) {
    const Dialect* const known = dialect(name);
    auto fit = usable(known, name, options, setup.left_out);
    if (!fit)
      return pass_on(fit);
    if (!*fit)
      continue;
    setup.dialects.emplace_back(
        known, name == "rules"
                   ? with_schema_stages(with_prompts(options, folder_), schemas_below(folder_))
                   : options);
  }
  return {};
}

Result<Setup> Context::setup(const std::string& root) const {
  Setup setup;
  if (auto added = add_dialects(setup); !added)
    return pass_on(added);
  setup.libraries = libraries_of(config_);
  setup.environment = environment_of(root, folder_);
  // Agents call baton too. Name the configuration for them if they would not find it themselves.
  setup.environment.variables.erase(kConfigurationVariable);
  if (!configuration_.empty() && configuration_ != root + "/" + kConfigurationName)
    setup.environment.variables.emplace(kConfigurationVariable, configuration_);
  for (const auto& [role, agent] : config_.agents)
    setup.agents[role] = agent_spec(config_, role, agent, setup.environment);
  note_configuration(configuration_, setup);
  add_default_agents(config_, setup);
  const auto shell = config_.agents.find(std::string(kActionRole));
  AgentConfig own = shell == config_.agents.end() ? AgentConfig{} : shell->second;
  const Json loops = options_of(config_, "fsm_loop");
  for (const std::string_view name : fsm_loop::kUsualVariables)
    own.env_allow.emplace_back(name);
  for (std::string& name : fsm_loop::listed_variables(loops))
    own.env_allow.push_back(std::move(name));
  setup.action = agent_spec(config_, std::string(kActionRole), own, setup.environment);
  setup.action.problem.reset();
  // Definitions of loops may read variables, and agents write definitions.
  std::erase_if(setup.environment.variables, [&](const auto& row) {
    return row.first != kConfigurationVariable && !fsm_loop::gives_variable(loops, row.first);
  });
  setup.environment.variables["PWD"] = root;
  setup.environment.limits = run_limits(config_, AgentConfig{});
  setup.renew = [config = config_, environment = setup.environment](const Role& role,
                                                                    const AgentSpec& known) {
    return renewed(config, role, known, environment);
  };
  if (!foreign_)
    setup.filter = filter_below(folder_);
  setup.schemas = schemas_below(folder_);
  setup.tolerate_bad_schemas = anyway_;
  setup.retry = config_.limits.retry;
  setup.max_running = config_.limits.max_running;
  setup.spawns_per_hour = config_.limits.spawns_per_hour;
  setup.cost_per_hour = config_.limits.cost_per_hour;
  setup.tokens_per_hour = config_.limits.tokens_per_hour;
  setup.shell_per_hour = config_.limits.shell_per_hour;
  setup.events_per_hour = config_.limits.events_per_hour;
  setup.sizes = {config_.limits.max_flow_size_bytes, config_.limits.max_root_size_bytes};
  setup.rule_caps = config_.rule_caps;
  setup.caps = config_.caps;
  setup.hours = config_.hours;
  setup.load = load_limits(config_);
  setup.configuration = configuration_;
  setup.systemd_units = config_.systemd_units;
  setup.on_interrupted = config_.on_interrupted;
  setup.act_on_reverted = config_.act_on_reverted;
  if (configuration_.empty())
    setup.unconfigured = broken_configuration_.empty() || follows_
                             ? "there is no configuration, so baton starts nothing"
                             : "the configuration cannot be used, so it is not known what this "
                               "comes to; `baton doctor` says what is wrong with it";
  return setup;
}

Context Context::at(const std::string& root) const {
  Context other = *this;
  other.root_ = root;
  return other;
}

Context Context::with_roots(std::vector<std::string> roots) const {
  Context other = *this;
  other.roots_ = std::move(roots);
  return other;
}

std::vector<Context> Context::each() const {
  std::vector<Context> all;
  for (const std::string& root : roots_)
    all.push_back(at(root));
  return all;
}

std::vector<StateParent> Context::state_parents() const {
  return baton::state_parents(places_.state_dir, config_.state_dir);
}

Result<std::string> Context::state_folder() const {
  return find_state_folder(root_, state_parents());
}

Result<std::string> Context::make_state_folder(const std::string& root) const {
  return baton::make_state_folder(root, state_parents(), roots_);
}

SchemaFetch schemas_below(const std::string& folder) {
  return [folder](std::string_view uri) -> Result<std::string> {
    if (const auto* const bytes = embedded_file(uri))
      return std::string(*bytes);
    if (const auto* const bytes = own_schema(uri))
      return std::string(*bytes);
    if (uri.find("://") != std::string_view::npos)
      return fail(Errc::not_found, "there is no such schema, and none is fetched from elsewhere",
                  std::string(uri));
    return schema_file(folder, uri);
  };
}

Result<std::string> schema_file(const std::string& folder, std::string_view reference) {
  constexpr std::size_t kMaxSchemaBytes = 4U << 20U;
  Result<std::string> text = fail(Errc::not_found, "there is no such file");
  // A reference in a schema has %20 for a blank. A name that a person typed has the blank itself.
  for (const std::string& name : {std::string(reference), percent_decoded(reference)}) {
    const std::string path = absolute(name, folder);
    if (!below(folder, path))
      return fail(Errc::denied, "leads out of " + folder + ", below which schemas lie", path);
    if (path.find('\0') != std::string::npos)
      return fail(Errc::not_found, "no file has such a name");
    // A link in a repository of somebody else may name any file.
    const auto real = real_path(path);
    if (real && !below(real_path(folder).value_or(folder), *real))
      return fail(Errc::denied,
                  "is a link that leads out of " + folder + ", below which schemas lie", path);
    text = read_file(path, kMaxSchemaBytes);
    if (text || text.error().code != Errc::not_found)
      break;
  }
  return text;
}

std::vector<std::string> libraries_of(const Config& config) {
  std::vector<std::string> all;
  for (const auto& [name, options] : config.dialects) {
    const Value* const list = options.is_null() ? nullptr : json::child(*options, "library");
    if (list != nullptr && list->IsArray())
      for (const Value& each : list->GetArray())
        all.emplace_back(each.GetString());
  }
  return all;
}

Result<std::vector<std::pair<const Dialect*, Json>>> known_dialects(const Config& config) {
  std::vector<std::pair<const Dialect*, Json>> all;
  for (const auto& [name, options] : config.dialects)
    if (const Dialect* const known = dialect(name))
      all.emplace_back(known, options);
    else
      return fail(Errc::config, unknown_dialect(name));
  for (const Dialect* const each : dialects()) {
    const bool listed =
        std::any_of(all.begin(), all.end(), [&](const auto& entry) { return entry.first == each; });
    if (!listed)
      all.emplace_back(each, Json());
  }
  return all;
}

}  // namespace baton
