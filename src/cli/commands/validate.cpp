// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <filesystem>

#include "base/text.h"
#include "cli/commands/validation.h"
#include "config/config_fields.h"
#include "findings/report.h"
#include "io/system/git.h"
#include "workspace/acting_user.h"
#include "workspace/command.h"
#include "workspace/folders.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

struct ValidateArguments {
  Places places;
  ValidationRequest request;
  std::vector<std::string> maps;
  std::string format;
  std::string max_size;
  bool json = false;
};

std::string counted(std::size_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

/// The report for people. If the texts were kept, shows the line of each finding with a mark.
std::string report_text(const Report& report) {
  std::string text;
  for (const Inspected& file : report.files) {
    for (const Finding& finding : file.findings) {
      text += finding_text(file.path, finding);
      if (!file.text.empty())
        text += excerpt(file.text, finding.span);
    }
  }
  const FindingCount count = count_of(report);
  text += counted(report.checked, "file") + " checked";
  if (report.skipped > 0)
    text += ", " + std::to_string(report.skipped) + " of no known kind skipped";
  return text + ": " + counted(count.errors, "error") + ", " + counted(count.warnings, "warning") +
         "\n";
}

struct FormatRow {
  std::string_view name;
  std::string (*print)(const Report& report);
  bool from_here;  ///< wants paths relative to the current folder
};
constexpr std::array kFormats = {
    FormatRow{"text", report_text, false},
    FormatRow{"json", report_json, false},
    FormatRow{"sarif", [](const Report& r) { return report_sarif(r, BATON_VERSION); }, true},
    FormatRow{"github", report_github, true},
    FormatRow{"junit", report_junit, true},
};

const FormatRow* format_row(const std::string& name) {
  for (const FormatRow& row : kFormats)
    if (row.name == name)
      return &row;
  std::vector<std::string> names;
  names.reserve(kFormats.size());
  for (const FormatRow& row : kFormats)
    names.emplace_back(row.name);
  const auto near = nearest(name, names);
  complain("there is no format " + printable(name, 40) +
           (near ? "; did you mean " + *near + "?" : "; there are " + join(names, ", ")));
  return nullptr;
}

/// CI services need paths relative to the top of the repository. They call baton from there.
Report seen_from_here(Report report) {
  std::error_code error;
  const std::string here = fs::current_path(error).string();
  for (Inspected& file : report.files)
    if (const auto relative = below(here, file.path); relative && !error)
      file.path = *relative;
    else if (file.path.starts_with("./"))
      file.path = fs::path(file.path).lexically_normal().string();
  return report;
}

Options& describe(Options& options, ValidateArguments& arguments) {
  ValidationRequest& request = arguments.request;
  options.words("PATH", request.paths, "Files or folders; - is standard input");
  options.places(arguments.places);
  options.value("--as", request.as, "KIND",
                "The kind of the files: DIALECT/KIND, or the name of a rule");
  options.value("--schema", request.schema, "FILE",
                "Check against this schema only: a file, or a name of `baton schema --list`");
  options.values(
      "--map", arguments.maps, "URI-PREFIX=DIR",
      "The folder of the schemas whose URI begins like this; baton never downloads a schema");
  options.flag("--staged", request.staged,
               "Check the files in the git index that the next commit adds or changes; with PATH, "
               "only those at or below PATH");
  options.value("--format", arguments.format, "FORMAT",
                "text, json, sarif (2.1.0), github (annotations) or junit");
  options.flag("--json", arguments.json, "Same as --format json");
  options.flag("--require-schema", request.rules.require_schema,
               "Report a file of a kind without a schema as an error");
  options.flag("--skip-unknown", request.rules.skip_unknown,
               "Named files of no known kind, and folders without such files, are no error");
  options.flag("--strict", request.rules.strict,
               "Report doubts about a schema as errors, not as warnings");
  options.flag("--warnings-as-errors", request.rules.warnings_as_errors, "Exit 1 on warnings too");
  options.value("--max-size", arguments.max_size, "SIZE",
                "Maximum file size in bytes, or with a unit (16MiB), in place of `limits: "
                "max_file`; larger files are errors");
  options.exclude("--as", {"--schema"});
  return options;
}

/// Checks the values of the options. Returns false after reporting a fault.
bool settle(ValidateArguments& arguments) {
  ValidationRequest& request = arguments.request;
  request.rules.load.doubt_numbers = request.rules.strict;
  const bool chosen = !request.as.empty() || !request.schema.empty();
  if (chosen && request.paths.empty() && !request.staged) {
    complain(std::string(request.as.empty() ? "--schema" : "--as") +
             " needs files to check: name files or folders, or - for standard input");
    return false;
  }
  if (!arguments.max_size.empty()) {
    auto size = parse_size(arguments.max_size);
    if (!size)
      size = parse_size(arguments.max_size + "B");
    if (!size || *size == 0) {
      complain("--max-size takes a size such as 512KiB, 16MiB or a number of bytes, not " +
               printable(arguments.max_size, 40));
      return false;
    }
    request.max_bytes = *size;
  }
  for (const std::string& text : arguments.maps) {
    auto map = parse_schema_map(text);
    if (!map) {
      complain(map.error());
      return false;
    }
    request.maps.push_back(*std::move(map));
  }
  return true;
}

/// A commit covers the whole repository. If no configuration names the root, it is the top of the
/// repository, as in a hook, and not the current folder.
Result<Context> open_context(const ValidateArguments& arguments) {
  if (arguments.request.staged)
    if (auto acting = act_as_owner_of_work_tree(); !acting)
      return pass_on(acting);
  auto context = Context::open_as_data(arguments.places);
  std::error_code error;
  if (!context || !arguments.request.staged || context->root_is_named() ||
      !context->config().roots.empty() || fs::exists(context->root() + "/baton.yaml", error))
    return context;
  const auto repository = GitRepository::here();
  // If there is no repository, the code that reads the index reports it.
  if (!repository || repository->top() == context->root())
    return context;
  Places places = arguments.places;
  places.root = repository->top();
  return Context::open_as_data(places);
}

}  // namespace

ExitCode validate_command(Words words) {
  ValidateArguments arguments;
  Options options(
      "validate",
      "Checks files: JSON syntax, schema, and rules that a schema cannot express.\n"
      "Without PATH, it checks everything below the root, as the daemon does.",
      {{ExitCode::fine, "no error; warnings alone are fine"},
       {ExitCode::failed, "an error, or a warning with --warnings-as-errors"},
       {ExitCode::usage},
       {ExitCode::unreachable, "the root, the git index, a folder or a file could not be read"}});
  if (const auto over = describe(options, arguments).parse(words))
    return *over;
  if (arguments.json && !arguments.format.empty() && arguments.format != "json") {
    complain("--json and --format " + printable(arguments.format, 40) + " exclude each other");
    return ExitCode::usage;
  }
  if (arguments.format.empty())
    arguments.format = arguments.json ? "json" : "text";
  const FormatRow* const format = format_row(arguments.format);
  if (format == nullptr || !settle(arguments))
    return ExitCode::usage;
  arguments.request.rules.keep_text = format->name == "text" && on_terminal();
  const auto context = open_context(arguments);
  if (!context)
    return complain(context.error());
  if (const auto all = context->all_there(); !all)
    return complain(all.error());
  LoadLimits& load = arguments.request.rules.load;
  const bool doubt = load.doubt_numbers;
  load = arguments.request.max_bytes > 0 ? limits_up_to(arguments.request.max_bytes)
                                         : load_limits(context->config());
  load.doubt_numbers = doubt;
  auto inspection = Validation(arguments.request, *context).all();
  if (!inspection)
    return complain(inspection.error());
  const std::string text = format->print(format->from_here ? seen_from_here(inspection->report())
                                                           : inspection->report());
  if (format->name == "text")
    print_text(text);
  else
    print(text);
  if (inspection->report().checked == 0 && inspection->report().skipped > 0 &&
      !arguments.request.paths.empty() && inspection->code() == ExitCode::fine)
    complain(
        "nothing was checked: no path fits the configured files; use --as to say what kind they "
        "are");
  return finish(inspection->code());
}

}  // namespace baton
