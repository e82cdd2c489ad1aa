// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the files of one `baton validate` call and checks them.

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/commands/schema_source.h"
#include "core/catalog.h"
#include "core/ports.h"
#include "engine/intake/document_check.h"
#include "io/files/log_parts.h"
#include "io/system/git.h"
#include "workspace/context.h"
#include "workspace/inspection.h"
#include "workspace/kind_choice.h"

namespace baton {

/// What to check, and how.
struct ValidationRequest {
  std::vector<std::string> paths;  ///< files and folders, `-` for stdin; empty: the root
  bool staged = false;             ///< the index of git instead, as far as `paths` name it
  std::string as;                  ///< a kind; empty: by the path
  std::string schema;              ///< a schema by itself; empty: that of the kind
  std::vector<SchemaMap> maps;
  std::size_t max_bytes = 0;  ///< of a file; 0: as the configuration says
  Inspection::Rules rules;
};

class Validation {
 public:
  /// Both must outlive this.
  Validation(const ValidationRequest& request, const Context& context)
      : request_(request), context_(context) {}

  /// Errc::usage, config, schema: nothing can be checked. An unreadable file becomes part of the
  /// inspection, and the others are still checked.
  Result<Inspection> all();

 private:
  /// Whether the user named this file. Then the user must learn if it cannot be read.
  enum class Named { no, yes };

  Result<std::shared_ptr<Schemas>> prepare();
  std::optional<Catalog::Match> match(const std::string& shown, const std::string& relative);
  bool wanted(const std::string& name) const;
  bool across_documents() const;
  std::set<std::string> named_paths() const;

  void named(const std::string& path, Inspection& inspection);
  bool special(const std::string& path, Inspection& inspection) const;
  void outside(const std::string& path, std::string text, Inspection& inspection);
  bool of_daemon(const std::string& path, Inspection& inspection);
  void folder(const std::string& path, Inspection& inspection);
  Result<void> tree(Inspection& inspection);
  Result<void> index(Inspection& inspection);
  Result<void> unknown(const GitRepository& repository, Inspection& inspection) const;
  void read(const RootFolder& root, Disk& disk, const std::string& name, const FileName& as,
            const Catalog::Match& match, Named named, Inspection& inspection);
  /// Checks a log that is too large to be read as a whole.
  void log(Result<LogParts> parts, const FileName& as, const Catalog::Match& match,
           Inspection& inspection) const;
  Result<std::string> related(const std::string& root, const std::string& path) const;
  void unfit(const std::string& path, const Error& error, Named named,
             Inspection& inspection) const;
  bool is_copy(Disk& disk, const std::string& name, const std::string& shown,
               const Catalog::Match& match, Inspection& inspection) const;
  void doubt_name(const std::string& shown, const std::string& path, Inspection& inspection) const;
  std::string shown_schema(const std::string& name) const;

  const ValidationRequest& request_;
  const Context& context_;
  Catalog catalog_;
  std::optional<KindChoice> choice_;
  /// What --as names, if it is no kind of state files: `config`, or the template of a prompt.
  std::string special_;
  std::deque<KindChoice> recognised_;  ///< kinds of named files, by their content
  std::string schema_folder_;
};

}  // namespace baton
