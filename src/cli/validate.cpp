#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "app/config_fields.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/context.h"
#include "cli/inspection.h"
#include "cli/kind_choice.h"
#include "cli/options.h"
#include "cli/output.h"
#include "io/disk.h"
#include "io/place.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kMaxDepth = 32;

struct Arguments {
  Places places;
  std::vector<std::string> paths;
  std::string as;
  std::string schema;
  std::string format = "text";
  std::string max_size;
  bool json = false;
  bool require_schema = false;
  bool warnings_as_errors = false;
};

/// Everything up to one byte above the limit, which is then found to be too much.
std::string standard_input(std::size_t max_bytes) {
  constexpr std::size_t kPiece = 65536;
  std::string text;
  std::string piece(kPiece, '\0');
  while (text.size() <= max_bytes) {
    const std::size_t got = std::fread(piece.data(), 1, piece.size(), stdin);
    if (got == 0)
      break;
    text.append(piece, 0, got);
  }
  return text;
}

class Validation {
 public:
  Validation(const Arguments& arguments, const Context& context, LoadLimits load)
      : arguments_(arguments), context_(context), load_(load) {}

  Result<Inspection> all() {
    auto dialects = known_dialects(context_.config());
    if (!dialects)
      return pass_on(dialects);
    catalog_ = Catalog::of(*dialects);
    auto schemas = prepare();
    if (!schemas)
      return pass_on(schemas);
    Inspection inspection(*schemas,
                          {load_, arguments_.require_schema, arguments_.warnings_as_errors});
    if (arguments_.paths.empty()) {
      if (auto done = tree(inspection); !done)
        return pass_on(done);
    }
    for (const std::string& path : arguments_.paths)
      named(path, inspection);
    inspection.finish();
    if (across_)
      inspection.check_flows();
    return inspection;
  }

 private:
  /// Looks at --as and --schema, and finds where schemas come from.
  Result<std::shared_ptr<Schemas>> prepare() {
    if (!arguments_.as.empty()) {
      auto choice = KindChoice::named(catalog_, arguments_.as);
      if (!choice)
        return pass_on(choice);
      choice_ = *std::move(choice);
    }
    if (arguments_.schema.empty())
      return std::make_shared<Schemas>(schemas_below(context_.folder()));
    std::error_code error;
    const fs::path file(arguments_.schema);
    std::string name = arguments_.schema;
    std::string folder = context_.folder();
    // A file comes first; else it is the name of one of our own.
    if (fs::exists(file, error)) {
      auto real = real_path(arguments_.schema);
      if (!real)
        return pass_on(real);
      folder = fs::path(*real).parent_path().string();
      name = fs::path(*real).filename().string();
    }
    auto schemas = std::make_shared<Schemas>(schemas_below(folder));
    if (auto schema = schemas->get(name); !schema)
      return fail(Errc::schema, "the schema cannot be used: " + describe(schema.error()));
    choice_ = KindChoice::of_schema(name);
    return schemas;
  }

  std::optional<Catalog::Match> match(const std::string& shown, const std::string& relative) {
    if (choice_)
      return choice_->match(shown);
    return relative.empty() ? std::nullopt : catalog_.match(relative);
  }

  void named(const std::string& path, Inspection& inspection) {
    if (path == "-") {
      if (auto found = match(path, ""))
        inspection.judge(path, standard_input(load_.max_bytes), *found);
      else
        inspection.skip(path);
      return;
    }
    if (!choice_ && of_daemon(path, inspection))
      return;
    std::error_code error;
    if (fs::is_directory(path, error)) {
      folder(path, inspection);
      return;
    }
    const auto real = real_path(path);
    const auto found =
        match(path, real ? below(context_.root(), *real).value_or("") : std::string());
    auto text = read_file(path, load_.max_bytes);
    if (!text && text.error().code == Errc::too_large)
      too_large(path, text.error(), inspection);
    else if (!text)
      inspection.unreadable(path, text.error());
    else if (!found)
      inspection.skip(path);
    else
      inspection.judge(path, *std::move(text), *found);
  }

  /// A path that the daemon would look at, read its way: over no link below the root.
  bool of_daemon(const std::string& path, Inspection& inspection) {
    const std::string& root = context_.root();
    const Way way = way_to(path, [&](const std::string& folder) {
      return folder == root || below(root, folder).has_value();
    });
    const auto relative = below(root, way.path);
    const auto found = relative ? catalog_.match(*relative) : std::nullopt;
    if (!found)
      return false;
    auto disk = real_disk(root);
    if (!disk) {
      inspection.unreadable(path, disk.error());
      return true;
    }
    std::error_code error;
    if (way.link == way.path)
      inspection.unreadable(path,
                            {Errc::not_regular, "is a symbolic link, which is not followed", {}});
    else if (fs::exists(fs::symlink_status(way.path, error)))
      read(**disk, *relative, path, *found, inspection);
    else
      return false;
    return true;
  }

  /// Everything below a folder that belongs to a kind, by its path below the root or below the
  /// folder itself, which may be a root of its own.
  void folder(const std::string& path, Inspection& inspection) {
    across_ = !choice_;
    auto real = real_path(path);
    auto disk = real ? real_disk(*real) : Result<std::unique_ptr<Disk>>(pass_on(real));
    auto files = disk ? (*disk)->list("", kMaxDepth)
                      : Result<std::vector<FileEntry>>(tl::unexpected(disk.error()));
    if (!files) {
      inspection.unreadable(path, files.error());
      return;
    }
    std::set<std::string> names;
    for (FileEntry& file : *files)
      names.insert(std::move(file.path));
    for (const std::string& name : names) {
      const std::string shown = (fs::path(path) / name).lexically_normal().string();
      auto found = match(shown, below(context_.root(), *real + "/" + name).value_or(""));
      if (!found)
        found = match(shown, name);
      if (found && (!choice_ || format_of_name(name) != Format::json || name.ends_with(".json")))
        read(**disk, name, shown, *found, inspection);
    }
  }

  Result<void> tree(Inspection& inspection) {
    across_ = true;
    auto disk = real_disk(context_.root());
    if (!disk)
      return pass_on(disk);
    std::set<std::string> names;
    for (const PatternFolder& watched : catalog_.folders()) {
      auto files = (*disk)->list(watched.folder, watched.depth);
      if (!files)
        return pass_on(files);
      for (FileEntry& file : *files)
        names.insert(std::move(file.path));
    }
    for (const std::string& name : names)
      if (const auto found = catalog_.match(name))
        read(**disk, name, name, *found, inspection);
    return {};
  }

  void read(Disk& disk, const std::string& name, const std::string& shown,
            const Catalog::Match& match, Inspection& inspection) {
    auto file = disk.read(name, load_.max_bytes);
    if (file)
      inspection.judge(shown, std::move(file->bytes), match);
    else if (file.error().code == Errc::too_large)
      too_large(shown, file.error(), inspection);
    else if (file.error().code != Errc::not_found)
      inspection.unreadable(shown, file.error());
  }

  void too_large(const std::string& path, const Error& error, Inspection& inspection) const {
    Finding finding;
    finding.rule = "json";
    finding.message = error.message;
    finding.expected = "at most " + std::to_string(load_.max_bytes) + " bytes (--max-size)";
    inspection.refuse(path, std::move(finding));
  }

  const Arguments& arguments_;
  const Context& context_;
  LoadLimits load_;
  Catalog catalog_;
  std::optional<KindChoice> choice_;
  bool across_ = false;
};

std::string counted(std::size_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

void print_text(const Inspection& inspection) {
  std::size_t errors = 0;
  std::size_t warnings = 0;
  for (const Inspected& file : inspection.results()) {
    for (const Finding& finding : file.findings) {
      ++(finding.severity == Severity::error ? errors : warnings);
      print(finding_text(file.path, finding));
    }
  }
  std::string line = counted(inspection.checked(), "file") + " checked";
  if (inspection.skipped() > 0)
    line += ", " + std::to_string(inspection.skipped()) + " of no known kind skipped";
  print(line + ": " + counted(errors, "error") + ", " + counted(warnings, "warning") + "\n");
}

void print_json(const Inspection& inspection) {
  Json findings = Json::array();
  for (const Inspected& file : inspection.results()) {
    // Of our own making, so it can be read.
    const auto each = parse_json(findings_json(file.path, file.findings));
    if (each)
      for (const Value& finding : (**each).GetArray())
        findings.push(Json(finding));
  }
  print(Json::object({{"schema", "baton/validate/v1"},
                      {"checked", static_cast<std::uint64_t>(inspection.checked())},
                      {"skipped", static_cast<std::uint64_t>(inspection.skipped())},
                      {"findings", findings}})
            .dump() +
        "\n");
}

std::optional<ExitCode> read_arguments(Words words, Arguments& arguments) {
  Options options("validate",
                  "Checks files: JSON, schema, and the rules no schema can state.\n"
                  "Without PATH everything below the root is checked, as the daemon does.",
                  "  0  no error (warnings alone are fine)\n"
                  "  1  an error, or a warning with --warnings-as-errors\n"
                  "  2  wrong usage, configuration or schema\n"
                  "  3  a named file could not be read");
  options.words("PATH", arguments.paths, "Files or folders; - is standard input");
  options.places(arguments.places);
  options.value("--as", arguments.as, "KIND",
                "What the files are: DIALECT/KIND, or the name of a rule");
  options.value("--schema", arguments.schema, "FILE",
                "Check against this schema only: a file, or a name of `baton schema --list`");
  options.value("--format", arguments.format, "FORMAT", "text or json");
  options.flag("--json", arguments.json, "Same as --format json");
  options.flag("--require-schema", arguments.require_schema,
               "A named file for which there is no schema is an error");
  options.flag("--warnings-as-errors", arguments.warnings_as_errors, "Exit 1 on warnings too");
  options.value("--max-size", arguments.max_size, "SIZE", "Larger files are errors (16MiB)");
  if (const auto over = options.parse(words))
    return over;
  if (arguments.json)
    arguments.format = "json";
  if (arguments.format != "text" && arguments.format != "json") {
    complain("--format is text or json, not " + printable(arguments.format, 40));
    return ExitCode::usage;
  }
  if (!arguments.as.empty() && !arguments.schema.empty()) {
    complain("--as and --schema exclude each other");
    return ExitCode::usage;
  }
  return std::nullopt;
}

}  // namespace

ExitCode validate_command(Words words) {
  Arguments arguments;
  if (const auto over = read_arguments(words, arguments))
    return *over;
  LoadLimits load;
  if (!arguments.max_size.empty()) {
    const auto size = parse_size(arguments.max_size);
    if (!size || *size == 0) {
      complain("--max-size is a size such as 512KiB or 16MiB");
      return ExitCode::usage;
    }
    load.max_bytes = *size;
  }
  const auto context = Context::open(arguments.places);
  if (!context)
    return complain(context.error());
  auto inspection = Validation(arguments, *context, load).all();
  if (!inspection)
    return complain(inspection.error());
  if (arguments.format == "json")
    print_json(*inspection);
  else
    print_text(*inspection);
  return finish(inspection->code());
}

}  // namespace baton
