#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/judge.h"
#include "base/document.h"
#include "cli/exit_code.h"
#include "cli/parallel.h"
#include "core/catalog.h"
#include "core/ports.h"

namespace baton {

/// What `validate` found in one file.
struct Inspected {
  std::string path;  ///< as it was named
  Findings findings;
};

/// Judges files the way the daemon does, and collects what is wrong.
class Inspection {
 public:
  struct Rules {
    LoadLimits load;
    bool require_schema = false;
    bool warnings_as_errors = false;
  };
  Inspection(std::shared_ptr<Schemas> schemas, Rules rules)
      : schemas_(std::move(schemas)), rules_(rules) {}

  /// Judges one text as a document of the match.
  void judge(const std::string& path, std::string text, const Catalog::Match& match);
  /// A named file that belongs to no kind.
  void skip(const std::string& path);
  /// A file that could not be read: said on stderr, and one that is there but no file for reading,
  /// such as a link or a FIFO, is a finding too.
  void unreadable(const std::string& path, const Error& error);
  /// A file that is wrong as a whole.
  void refuse(const std::string& path, Finding finding);
  /// Waits for the verdicts. Nothing is known of texts that were handed in before.
  void finish();
  /// The rules across documents, of all flows that were judged without an error.
  void check_flows();

  const std::vector<Inspected>& results() const { return results_; }
  std::size_t checked() const { return checked_; }
  std::size_t skipped() const { return skipped_; }
  ExitCode code() const { return code_; }

 private:
  struct FlowDocuments {
    const Catalog::Entry* entry = nullptr;
    FlowState docs;
    std::map<std::string, std::size_t> result;  ///< by path: place in results_
    bool broken = false;
  };
  /// A text on its way through `parallel_`: judged by then, or the reason why not.
  struct Pending {
    Catalog::Match match;
    std::size_t result = 0;  ///< place in results_
    tl::expected<Verdict, std::string> verdict;
  };
  void add(const std::string& path, Findings findings);
  void settle(Pending& pending);
  void count(const Findings& findings);

  std::shared_ptr<Schemas> schemas_;
  Rules rules_;
  std::vector<Inspected> results_;
  std::map<FlowId, FlowDocuments> flows_;
  std::size_t checked_ = 0;
  std::size_t skipped_ = 0;
  ExitCode code_ = ExitCode::fine;
  std::deque<Pending> pending_;  ///< in the order of the files; never moved while `parallel_` works
  Parallel parallel_;            ///< the last member: it is the first to end
};

/// A dialect of one kind of files and no rules: for --schema.
const Dialect& plain_dialect();

/// By its name: `x.jsonl` is JSON Lines, `x.yaml` and `x.yml` YAML, everything else JSON.
Format format_of_name(const std::string& path);

}  // namespace baton
