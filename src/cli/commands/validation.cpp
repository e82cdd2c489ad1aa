// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/validation.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

#include "base/text.h"
#include "cli/commands/adapter_validation.h"
#include "cli/commands/content_kind.h"
#include "cli/commands/schema_catalog.h"
#include "config/config.h"
#include "io/files/disk.h"
#include "io/files/folder.h"
#include "io/files/root.h"
#include "io/system/clock.h"
#include "io/system/state_folder.h"
#include "io/system/time_zones.h"
#include "workspace/folders.h"
#include "workspace/list_options.h"
#include "workspace/prompt_files.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kMaxDepth = 32;
/// A log that is too large is checked in such parts; no line may be longer.
constexpr std::size_t kLogPart = 4U << 20U;

/// Reads one byte more than the limit, so that a text that is too large is noticed.
Result<std::string> standard_input(std::size_t max_bytes) {
  constexpr std::size_t kPiece = 65536;
  std::string text;
  std::string piece(kPiece, '\0');
  while (text.size() <= max_bytes) {
    const std::size_t got = std::fread(piece.data(), 1, piece.size(), stdin);
    if (got == 0)
      break;
    text.append(piece, 0, got);
  }
  if (std::ferror(stdin) != 0)
    return fail(Errc::io, "the standard input cannot be read");
  return text;
}

/// The path relative to the current folder, if that is shorter.
std::string seen_from_here(const std::string& absolute) {
  std::error_code error;
  const std::string near = fs::path(absolute).lexically_relative(fs::current_path(error)).string();
  return error || near.empty() || near.size() >= absolute.size() ? absolute : near;
}

/// Adds the names below a folder, and whether each is a folder. Calls `closed` for each folder that
/// cannot be read.
using Names = std::map<std::string, bool>;
Result<void> add_names(const RootFolder& root, const std::string& folder, unsigned depth,
                       const std::function<void(const std::string&, const Error&)>& closed,
                       Names& names) {
  return walk_files(root.fd(), folder, depth,
                    {[&](std::string name) { names.emplace(std::move(name), false); }, closed,
                     [&](std::string name) { names.emplace(std::move(name), true); }});
}

Error is_link() {
  return {Errc::not_regular,
          "is a symbolic link, and baton does not follow links; name its target",
          {}};
}

constexpr const char* kUnknown =
    "it was not checked: no rule and no dialect knows it, and its content is that of no known "
    "kind; "
    "name one with --as or --schema, or give --skip-unknown";

/// A file of no known kind; it is a fault only if the user named it.
void leave_out(const std::string& shown, bool is_named, Inspection& inspection) {
  if (is_named)
    inspection.skip(shown, kUnknown);
  else
    inspection.pass_over();
}

/// The findings about a text as a `baton.yaml`.
Findings configuration_findings(std::string text, Format format) {
  const auto zones = real_time_zones();
  auto parsed = parse_config(std::move(text), format, zones.get());
  return parsed ? std::move(parsed->warnings) : std::move(parsed.error());
}

}  // namespace

Result<Inspection> Validation::all() {
  auto dialects = known_dialects(context_.config());
  if (!dialects)
    return pass_on(dialects);
  catalog_ = Catalog::of(*dialects);
  auto schemas = prepare();
  if (!schemas)
    return pass_on(schemas);
  Inspection::Rules rules = request_.rules;
  rules.across = across_documents();
  rules.wall = real_clock()->wall();
  Inspection inspection(*schemas, rules);
  auto done = request_.staged          ? index(inspection)
              : request_.paths.empty() ? tree(inspection)
                                       : Result<void>();
  if (!done)
    return pass_on(done);
  const AdapterValidation adapters(context_, request_.rules.load.max_bytes);
  if (!request_.staged && request_.paths.empty())
    adapters.all(inspection);
  if (!request_.staged)
    for (const std::string& path : request_.paths)
      if (choice_ || !adapters.named(path, inspection))
        named(path, inspection);
  inspection.finish();
  inspection.check_flows([&](const std::string& root, const std::string& path) {
    return related(root.empty() ? context_.root() : root, path);
  });
  inspection.doubt_schemas([this](const std::string& name) { return shown_schema(name); });
  return inspection;
}

/// Rules across documents are checked for whole trees, not for single files or one kind.
bool Validation::across_documents() const {
  std::error_code error;
  return !choice_ && !request_.staged &&
         (request_.paths.empty() ||
          std::any_of(request_.paths.begin(), request_.paths.end(),
                      [&](const std::string& path) { return fs::is_directory(path, error); }));
}

/// Evaluates --as and --schema, and decides where schemas come from.
Result<std::shared_ptr<Schemas>> Validation::prepare() {
  schema_folder_ = context_.folder();
  if (request_.as == kConfiguration || request_.as.ends_with(".md")) {
    special_ = request_.as;
    if (const auto names = prompt_names();
        special_ != kConfiguration &&
        std::find(names.begin(), names.end(), special_) == names.end())
      return tl::unexpected(no_such("prompt", special_, names));
  } else if (!request_.as.empty()) {
    auto choice = KindChoice::named(catalog_, request_.as);
    if (!choice && is_embedded(request_.as))
      choice_ = KindChoice::of_schema(request_.as);
    else if (!choice)
      return pass_on(choice);
    else
      choice_ = *std::move(choice);
  }
  if (request_.schema.empty())
    return std::make_shared<Schemas>(mapped_schemas(request_.maps, schemas_below(schema_folder_)));
  auto source = schema_source(request_.schema, schema_folder_);
  if (!source)
    return pass_on(source);
  schema_folder_ = source->folder;
  auto all = std::make_shared<Schemas>(mapped_schemas(request_.maps, std::move(source->fetch)));
  if (auto schema = all->get(source->name); !schema)
    return fail(Errc::schema, "the schema cannot be used: " + describe(schema.error()));
  choice_ = KindChoice::of_schema(source->name);
  return all;
}

std::string Validation::shown_schema(const std::string& name) const {
  if (!request_.schema.empty())
    return request_.schema;
  return seen_from_here((fs::path(schema_folder_) / name).lexically_normal().string());
}

std::optional<Catalog::Match> Validation::match(const std::string& shown,
                                                const std::string& relative) {
  if (choice_)
    return choice_->match(shown);
  return relative.empty() ? std::nullopt : catalog_.match(relative);
}

/// Whether to check a file of a folder. With --as or --schema, a file counts only if its name has
/// an extension of JSON, JSON Lines or YAML.
bool Validation::wanted(const std::string& name) const {
  return !choice_ || format_of_name(name) != Format::json || name.ends_with(".json");
}

void Validation::named(const std::string& path, Inspection& inspection) {
  if (path == "-") {
    const auto found = match(path, "");
    auto text = standard_input(request_.rules.load.max_bytes);
    if (!text)
      inspection.unreadable(path, text.error());
    else if (found)
      inspection.check_document({path, path, ""}, *std::move(text), *found);
    else
      outside(path, *std::move(text), inspection);
    return;
  }
  if (special(path, inspection))
    return;
  if (!choice_ && of_daemon(path, inspection))
    return;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    const std::size_t before = inspection.seen();
    folder(path, inspection);
    if (inspection.seen() == before)
      inspection.skip(path,
                      "nothing in this folder was checked: no rule and no dialect knows a file in "
                      "it; see `files:` of the rules, or give --skip-unknown");
    return;
  }
  std::string relative;
  // With only a schema, the path does not matter.
  if (request_.schema.empty())
    if (const auto real = real_path(path))
      relative = below(context_.root(), *real).value_or("");
  const auto found = match(path, relative);
  auto text = read_file(path, request_.rules.load.max_bytes);
  if (!text && text.error().code == Errc::too_large && found &&
      found->kind->format == Format::jsonl)
    log(LogParts::at(path), {path, relative.empty() ? path : relative, ""}, *found, inspection);
  else if (!text)
    unfit(path, text.error(), Named::yes, inspection);
  else if (!found)
    outside(path, *std::move(text), inspection);
  else
    inspection.check_document({path, relative.empty() ? path : relative, ""}, *std::move(text),
                              *found);
}

/// Checks a file that --as calls a configuration or a prompt. False: it does not.
bool Validation::special(const std::string& path, Inspection& inspection) const {
  if (special_.empty())
    return false;
  if (special_ != kConfiguration) {
    const auto text = read_template(path, special_.substr(0, special_.find('/')));
    inspection.checked(
        path, text ? Findings() : Findings{{.rule = "prompt", .message = describe(text.error())}});
    return true;
  }
  auto text = read_file(path, request_.rules.load.max_bytes);
  if (text)
    inspection.checked(path, configuration_findings(*std::move(text), format_of_name(path)));
  else
    unfit(path, text.error(), Named::yes, inspection);
  return true;
}

/// Checks a named file that is in no usual place: its content says what it is.
void Validation::outside(const std::string& path, std::string text, Inspection& inspection) {
  Format format = format_of_name(path);
  auto document = load_document(text, format, request_.rules.load);
  // The standard input has no name, and every JSON text is YAML.
  if (!document && path == "-") {
    format = Format::yaml;
    document = load_document(text, format, request_.rules.load);
  }
  // A hook names all files that change, also those of other programs.
  const bool guesses = !request_.rules.skip_unknown;
  const std::string_view kind =
      document && guesses ? kind_by_content((*document)->root()) : std::string_view();
  // A configuration that cannot be parsed is known by its name.
  if (kind == kConfiguration || fs::path(path).filename() == "baton.yaml")
    return inspection.checked(path, configuration_findings(std::move(text), format));
  const bool by_name = format != Format::json || path.ends_with(".json");
  if (!document && guesses && by_name && path != "-")
    return inspection.checked(path, std::move(document.error().findings));
  if (kind.empty())
    return inspection.skip(path, kUnknown);
  if (kind == kAdapterSchema)
    recognised_.push_back(KindChoice::of_schema(std::string(kind)));
  else if (auto known = KindChoice::named(catalog_, std::string(kind)))
    recognised_.push_back(*std::move(known));
  else
    return inspection.skip(path, kUnknown);
  inspection.check_document({path, path, ""}, std::move(text), recognised_.back().match(path));
}

/// Checks a path that the daemon would read, and reads it as the daemon does: through no link below
/// the root. False: the daemon would not read this path, or nothing is there.
bool Validation::of_daemon(const std::string& path, Inspection& inspection) {
  const std::string& root = context_.root();
  const LinkPath way = resolve_outside(path, [&](const std::string& folder) {
    return folder == root || below(root, folder).has_value();
  });
  const auto relative = below(root, way.path);
  const auto found = relative ? catalog_.match(*relative) : std::nullopt;
  if (!found)
    return false;
  auto folder = RootFolder::open(root);
  if (!folder) {
    inspection.unreadable(path, folder.error());
    return true;
  }
  const auto disk = real_disk(*folder);
  std::error_code error;
  if (way.link == way.path)
    inspection.unreadable(path, is_link());
  else if (fs::exists(fs::symlink_status(way.path, error)))
    read(**folder, *disk, *relative, {path, *relative, ""}, *found, Named::yes, inspection);
  else
    return false;
  return true;
}

/// Checks all files below a folder that belong to a kind. The path below the root decides the kind.
/// If it matches none, the path below this folder does, because the folder may be a root.
void Validation::folder(const std::string& path, Inspection& inspection) {
  auto real = real_path(path);
  auto root = real ? RootFolder::open(*real) : Result<std::shared_ptr<RootFolder>>(pass_on(real));
  if (!root) {
    inspection.unreadable(path, root.error());
    return;
  }
  const auto shown = [&](const std::string& name) {
    return (fs::path(path) / name).lexically_normal().string();
  };
  Names names;
  const auto unreadable = [&](const std::string& closed, const Error& why) {
    if (why.code == Errc::denied)
      inspection.unreadable(shown(closed), why);
  };
  const auto walked = add_names(**root, "", kMaxDepth, unreadable, names);
  if (!walked) {
    inspection.unreadable(path, walked.error());
    return;
  }
  const auto disk = real_disk(*root);
  for (const auto& [name, is_folder] : names) {
    FileName as{shown(name), below(context_.root(), *real + "/" + name).value_or(""), ""};
    auto kind = match(as.shown, as.path);
    if (!kind) {
      kind = match(as.shown, name);
      as = {as.shown, name, *real};
    }
    if (kind && wanted(name) && !is_copy(*disk, name, as.shown, *kind, inspection))
      read(**root, *disk, name, as, *kind, Named::no, inspection);
    else if (!kind && !is_folder)
      doubt_name(as.shown, name, inspection);
  }
}

Result<void> Validation::tree(Inspection& inspection) {
  auto root = RootFolder::open(context_.root());
  if (!root)
    return pass_on(root);
  Names names;
  const auto unreadable = [&](const std::string& closed, const Error& why) {
    if (why.code == Errc::denied || catalog_.leads_on(closed))
      inspection.unreadable(closed, why);
  };
  for (const PatternFolder& watched : catalog_.folders()) {
    const auto walked = add_names(**root, watched.folder, watched.depth, unreadable, names);
    if (!walked)
      inspection.unreadable(watched.folder.empty() ? "." : watched.folder, walked.error());
  }
  const auto disk = real_disk(*root);
  for (const auto& [name, is_folder] : names)
    if (const auto found = catalog_.match(name)) {
      if (!is_copy(*disk, name, name, *found, inspection))
        read(**root, *disk, name, {name, name, ""}, *found, Named::no, inspection);
    } else if (!is_folder)
      doubt_name(name, name, inspection);
  return {};
}

/// The named files and folders as absolute paths. Only the last part may be a link: git stores it
/// as a link.
std::set<std::string> Validation::named_paths() const {
  std::set<std::string> names;
  for (const std::string& path : request_.paths) {
    std::error_code error;
    const fs::path whole = fs::absolute(path, error).lexically_normal();
    const fs::path folder = fs::weakly_canonical(whole.parent_path(), error);
    names.insert(error ? whole.string() : (folder / whole.filename()).string());
  }
  return names;
}

/// Warns of a file that no kind matches although it is among state files.
void Validation::doubt_name(const std::string& shown, const std::string& path,
                            Inspection& inspection) const {
  if (choice_)
    return;
  const std::string ignored = catalog_.ignored(path);
  const std::string why =
      ignored.empty() ? catalog_.unfit(path) : "is " + ignored + ": no state file";
  if (!why.empty())
    inspection.doubt(shown, {.severity = Severity::warning, .rule = "file", .message = why});
}

/// Whether the daemon ignores the file as a copy of the one beside it. Then it says so. Only the
/// daemon knows earlier versions of a file: a copy of one of them is checked like a state file.
bool Validation::is_copy(Disk& disk, const std::string& name, const std::string& shown,
                         const Catalog::Match& match, Inspection& inspection) const {
  if (!match.copy || choice_)
    return false;
  const std::size_t most = request_.rules.load.max_bytes;
  const std::string& other = match.copy->beside;
  const std::string folder = name.substr(0, name.rfind('/') + 1);
  const auto original = disk.read(folder + other.substr(other.rfind('/') + 1), most);
  if (!original)
    return false;
  if (match.copy->while_equal) {
    const auto copy = disk.read(name, most);
    if (!copy || copy->digest != original->digest)
      return false;
  }
  inspection.doubt(shown, {.severity = Severity::warning,
                           .rule = "file",
                           .message = "is " + match.copy->why + " of " + printable(other, 200) +
                                      ": no state file"});
  return true;
}

/// Reports named files that are not in the index, because they were not checked. A folder without
/// files in the index is no error.
Result<void> Validation::unknown(const GitRepository& repository, Inspection& inspection) const {
  auto paths = repository.unknown(request_.paths);
  if (!paths)
    return pass_on(paths);
  for (const std::string& path : *paths) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (!fs::exists(status))
      inspection.unreadable(path, {Errc::not_found, "does not exist, and is not in the index", {}});
    else if (!fs::is_directory(status))
      inspection.unreadable(path, {Errc::not_found, "is not in the index; `git add` it first", {}});
  }
  return {};
}

/// Checks what the next commit would contain, not the work tree. Only changed files are read, so
/// rules across documents are left out.
Result<void> Validation::index(Inspection& inspection) {
  auto repository = GitRepository::here();
  if (!repository)
    return fail(repository.error().code, "--staged: " + repository.error().message);
  const std::string& top = repository->top();
  if (context_.root() != top && !below(top, context_.root()) && !below(context_.root(), top))
    return fail(Errc::usage, "--staged: the root " + printable(context_.root()) +
                                 " does not belong to the repository " + printable(top));
  auto staged = repository->staged(request_.paths);
  if (!staged)
    return pass_on(staged);
  if (auto looked = unknown(*repository, inspection); !looked)
    return looked;
  struct Chosen {
    FileName name;
    std::optional<Catalog::Match> match;  ///< none: its content says what it is
  };
  std::vector<Chosen> chosen;
  std::vector<std::string> blobs;
  const std::set<std::string> names = named_paths();
  for (const StagedFile& file : *staged) {
    const std::string absolute = top + "/" + file.path;
    FileName name{seen_from_here(absolute), below(context_.root(), absolute).value_or(""), ""};
    const auto found = match(name.shown, name.path);
    const bool is_named = names.contains(absolute);
    const bool by_content = !found && is_named && !request_.rules.skip_unknown;
    if (!by_content && (!found || (!is_named && !wanted(file.path)))) {
      leave_out(name.shown, is_named, inspection);
      continue;
    }
    if (!file.merged) {
      inspection.unreadable(
          name.shown, {Errc::io, "has a merge conflict; resolve it and `git add` the file", {}});
      continue;
    }
    if (!file.regular) {
      inspection.unreadable(name.shown, is_link());
      continue;
    }
    if (name.path.empty())
      name.path = name.shown;
    chosen.push_back({std::move(name), found});
    blobs.push_back(file.blob);
  }
  if (blobs.empty())
    return {};
  return repository->read_blobs(blobs, request_.rules.load.max_bytes,
                                [&](std::size_t place, Result<std::string> bytes) {
                                  const auto& [name, found] = chosen[place];
                                  if (bytes && found)
                                    inspection.check_document(name, *std::move(bytes), *found);
                                  else if (bytes)
                                    outside(name.shown, *std::move(bytes), inspection);
                                  else
                                    unfit(name.shown, bytes.error(), Named::no, inspection);
                                });
}

void Validation::read(const RootFolder& root, Disk& disk, const std::string& name,
                      const FileName& as, const Catalog::Match& match, Named named,
                      Inspection& inspection) {
  const std::size_t most = request_.rules.load.max_bytes;
  auto file = disk.read(name, most);
  if (file && is_almost_too_large(file->bytes.size(), request_.rules.load) &&
      match.kind->format != Format::jsonl)
    inspection.warn(as.shown,
                    {.severity = Severity::warning,
                     .rule = "file",
                     .message = almost_too_large(file->bytes.size(), request_.rules.load)});
  if (file)
    inspection.check_document(as, std::move(file->bytes), match);
  else if (file.error().code == Errc::too_large && match.kind->format == Format::jsonl)
    log(LogParts::below(root, name), as, match, inspection);
  else if (file.error().code != Errc::not_found)
    unfit(as.shown, file.error(), named, inspection);
}

void Validation::log(Result<LogParts> parts, const FileName& as, const Catalog::Match& match,
                     Inspection& inspection) const {
  if (!parts)
    return inspection.unreadable(as.shown, parts.error());
  const std::size_t part = std::min(kLogPart, request_.rules.load.max_bytes);
  inspection.check_log(as, match, [&] { return parts->next(part); });
}

/// Reads the file as the daemon does: through no link, and nothing outside the root.
Result<std::string> Validation::related(const std::string& root, const std::string& path) const {
  const auto disk = real_disk(root);
  if (!disk)
    return tl::unexpected(disk.error());
  const auto libraries = libraries_of(context_.config());
  const auto library =
      std::find_if(libraries.begin(), libraries.end(),
                   [&](const std::string& folder) { return path.starts_with(folder + "/"); });
  auto file = library == libraries.end()
                  ? (*disk)->read(path, request_.rules.load.max_bytes)
                  : (*disk)->read_outside(*library, path.substr(library->size() + 1),
                                          request_.rules.load.max_bytes);
  if (!file)
    return pass_on(file);
  return std::move(file->bytes);
}

/// A file that is too large is invalid; so is an unnamed file that is not regular (a link, a FIFO,
/// a folder). Any other failure is reported as unreadable.
void Validation::unfit(const std::string& path, const Error& error, Named named,
                       Inspection& inspection) const {
  const std::size_t most = request_.rules.load.max_bytes;
  const char* const key =
      request_.max_bytes > 0 ? " (--max-size)" : " (limits: max_file, or --max-size)";
  if (error.code == Errc::too_large)
    inspection.refuse(path, {.rule = "json",
                             .message = error.message + key,
                             .expected = "at most " + std::to_string(most) + " bytes"});
  else if (error.code == Errc::not_regular && named == Named::no)
    inspection.refuse(path, {.rule = "file", .message = error.message});
  else
    inspection.unreadable(path, error);
}

}  // namespace baton
