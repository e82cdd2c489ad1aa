// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks files the way the daemon does and collects the findings, for `baton validate`.
// Many files are checked in parallel, so `finish` waits for the results. Which files to check is
// decided elsewhere (cli/commands/validation.h).

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/json/document.h"
#include "core/catalog.h"
#include "core/exit_code.h"
#include "core/ports.h"
#include "engine/intake/document_check.h"
#include "findings/report.h"
#include "workspace/parallel.h"

namespace baton {

/// The two names of a file. For a file outside the root they are the same.
struct FileName {
  std::string shown;  ///< as the user named it
  std::string path;   ///< below the root, as the rules of its dialect know it
  std::string root;   ///< "": the root of the command; else the folder that counts as the root
};

/// The files of one `baton validate` and what is wrong with them.
class Inspection {
 public:
  struct Rules {
    LoadLimits load;
    bool require_schema = false;  ///< a kind without a schema is an error
    bool skip_unknown = false;    ///< a named file of no known kind is no error
    bool warnings_as_errors = false;
    bool strict = false;     ///< doubts about schemas are errors
    bool keep_text = false;  ///< keep the texts of files with findings, to show the lines
    bool across = false;     ///< keep the documents for `check_flows`
    Time wall{};             ///< the present time
  };
  Inspection(std::shared_ptr<Schemas> schemas, Rules rules)
      : schemas_(std::move(schemas)), rules_(rules) {}

  /// Checks a text as a document of this kind. The result comes with `finish`.
  void check_document(const FileName& name, std::string text, const Catalog::Match& match);
  /// The next whole lines of a log; nothing: it is over.
  using NextLines = std::function<Result<std::optional<std::string>>()>;
  /// Checks a log that is too large to be read as a whole. Its lines are not shown.
  void check_log(const FileName& name, const Catalog::Match& match, const NextLines& next);
  /// Notes a file or folder that the user named and in which nothing could be checked. It is an
  /// error unless `skip_unknown` is set.
  void skip(const std::string& path, const std::string& why);
  /// Adds the findings about a file that somebody else has checked.
  void checked(const std::string& path, Findings findings);
  /// How many files were checked or left out so far.
  std::size_t seen() const { return report_.checked + report_.skipped; }
  /// Counts a file that belongs to no kind and that the user did not name. It is no error.
  void pass_over() { ++report_.skipped; }
  /// Reports a file or folder that could not be read, on stderr and as a finding.
  void unreadable(const std::string& path, const Error& error);
  /// Adds a finding about a file that is wrong as a whole.
  void refuse(const std::string& path, Finding finding);
  /// Adds a finding about a file that is not checked, although the user may expect it.
  void doubt(const std::string& path, Finding finding);
  /// Adds a finding about a file as a whole that is checked all the same.
  void warn(const std::string& path, Finding finding) {
    add({.path = path, .findings = {std::move(finding)}});
  }
  /// Waits until all texts are checked. Before, the report has no findings about them.
  void finish();
  /// Reads the file with this path below a root (FileName::root).
  using Reader =
      std::function<Result<std::string>(const std::string& root, const std::string& path)>;
  /// Checks the rules across documents, for all flows whose documents are valid. Needs `across`.
  void check_flows(const Reader& read);
  /// Adds the doubts about the schemas that were used, except embedded ones. `shown` returns the
  /// name by which the user knows a schema.
  void doubt_schemas(const std::function<std::string(const std::string& schema)>& shown);

  const Report& report() const { return report_; }
  ExitCode code() const { return code_; }

 private:
  struct FlowDocuments {
    const Catalog::Entry* entry = nullptr;
    FlowState docs;
    std::map<std::string, std::size_t> result;  ///< path → index in the report
    bool broken = false;
  };
  /// A text that `parallel_` checks. `checked` has the result, or the message of an exception.
  struct Pending {
    Catalog::Match match;
    FileName name;
    std::size_t result = 0;  ///< index in the report
    std::string text;        ///< kept to show the lines of findings
    tl::expected<DocumentCheck, std::string> checked;
  };
  bool usable(const std::string& path, const std::string& schema);
  void add(Inspected file);
  void settle(Pending& pending);
  void note_flow(const Pending& pending);
  void add_related(const std::string& root, FlowDocuments& flow, const Reader& read);
  bool add_related(const std::string& path, const Result<std::string>& text, FlowDocuments& flow);
  /// Adds what the rules across documents found in one document.
  void add_of_flow(const FlowDocuments& flow, const std::string& path, Findings findings);
  void count(const Findings& findings);

  std::shared_ptr<Schemas> schemas_;
  Rules rules_;
  Report report_;
  std::set<std::string> used_;                                     ///< names of schemas
  std::map<std::pair<std::string, FlowId>, FlowDocuments> flows_;  ///< by root and flow
  ExitCode code_ = ExitCode::fine;
  std::deque<Pending> pending_;  ///< a deque, because tasks of `parallel_` refer to its elements
  Parallel parallel_;            ///< last, so that it is destroyed before what its tasks refer to
};

/// A dialect without rules, for files that are only checked against a schema (--schema).
const Dialect& plain_dialect();

/// The format by the name of a file: `.jsonl` and `.ndjson` are JSON Lines, `.yaml` and `.yml` are
/// YAML, everything else is JSON.
Format format_of_name(const std::string& path);

}  // namespace baton
