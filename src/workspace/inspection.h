#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/json/document.h"
#include "core/catalog.h"
#include "core/ports.h"
#include "engine/intake/document_check.h"
#include "findings/report.h"
#include "workspace/exit_code.h"
#include "workspace/parallel.h"

namespace baton {

/// A file as somebody named it, and as the rules of its dialect know it: by its path below the
/// root. They are the same for what lies elsewhere.
struct FileName {
  std::string shown;
  std::string path;
  std::string root;  ///< "": the root of the command; else the folder that was taken for one
};

/// Judges files the way the daemon does, and collects what is wrong.
class Inspection {
 public:
  struct Rules {
    LoadLimits load;
    bool require_schema = false;
    bool warnings_as_errors = false;
    bool strict = false;     ///< doubts about schemas are errors
    bool keep_text = false;  ///< of files with findings, to show the lines
    bool across = false;     ///< documents are kept for `check_flows`
    Time wall{};             ///< now
  };
  Inspection(std::shared_ptr<Schemas> schemas, Rules rules)
      : schemas_(std::move(schemas)), rules_(rules) {}

  /// Judges one text as a document of the match.
  void check_document(const FileName& name, std::string text, const Catalog::Match& match);
  /// A named file that belongs to no kind.
  void skip(const std::string& path);
  /// A file that nobody named and that belongs to no kind: it counts, and is no error.
  void pass_over() { ++report_.skipped; }
  /// A file or folder that could not be read: said on stderr, and a finding.
  void unreadable(const std::string& path, const Error& error);
  /// A file that is wrong as a whole.
  void refuse(const std::string& path, Finding finding);
  /// A file that is not looked at, for a reason worth a word.
  void doubt(const std::string& path, Finding finding);
  /// Waits for the verdicts. Nothing is known of texts that were handed in before.
  void finish();
  /// Reads a file below a root (see FileName::root), by its path there.
  using Reader =
      std::function<Result<std::string>(const std::string& root, const std::string& path)>;
  /// The rules across documents, of all flows that were judged without an error (`across`).
  void check_flows(const Reader& read);
  /// What can be doubted about the schemas that were used, those of this binary aside. `shown` is
  /// how the user knows a schema.
  void doubt_schemas(const std::function<std::string(const std::string& schema)>& shown);

  const Report& report() const { return report_; }
  ExitCode code() const { return code_; }

 private:
  struct FlowDocuments {
    const Catalog::Entry* entry = nullptr;
    FlowState docs;
    std::map<std::string, std::size_t> result;  ///< by path: place in the report
    bool broken = false;
  };
  /// A text on its way through `parallel_`: judged by then, or the reason why not.
  struct Pending {
    Catalog::Match match;
    FileName name;
    std::size_t result = 0;  ///< place in the report
    std::string text;        ///< to show the lines of findings
    tl::expected<DocumentCheck, std::string> checked;
  };
  bool usable(const std::string& path, const std::string& schema);
  void add(Inspected file);
  void settle(Pending& pending);
  void note_flow(const Pending& pending);
  void add_related(const std::string& root, FlowDocuments& flow, const Reader& read);
  bool add_related(const std::string& path, const Result<std::string>& text, FlowDocuments& flow);
  /// What rules across documents say of one.
  void add_of_flow(const FlowDocuments& flow, const std::string& path, Findings findings);
  void count(const Findings& findings);

  std::shared_ptr<Schemas> schemas_;
  Rules rules_;
  Report report_;
  std::set<std::string> used_;                                     ///< schemas
  std::map<std::pair<std::string, FlowId>, FlowDocuments> flows_;  ///< by root
  ExitCode code_ = ExitCode::fine;
  std::deque<Pending> pending_;  ///< in the order of the files; never moved while `parallel_` works
  Parallel parallel_;            ///< the last member: it is the first to end
};

/// A dialect of one kind of files and no rules: for --schema.
const Dialect& plain_dialect();

/// By its name: `x.jsonl` is JSON Lines, `x.yaml` and `x.yml` YAML, everything else JSON.
Format format_of_name(const std::string& path);

}  // namespace baton
