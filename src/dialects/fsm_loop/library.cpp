// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "base/text.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/check.h"
#include "dialects/fsm_loop/definition.h"
#include "dialects/fsm_loop/values.h"
#include "dialects/kinds.h"

namespace baton::fsm_loop {

namespace {

std::string folder_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return std::string(path.substr(0, slash == std::string_view::npos ? 0 : slash));
}

bool is_file_name(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml");
}

/// The names of all other files in a definition.
std::vector<std::string> names_in(const Value& root) {
  std::vector<std::string> all = texts_of(root, "import");
  if (const auto parent = json::text(root, "from"))
    all.emplace_back(*parent);
  for (const char* const key : {"states", "state_defs", "fragments"})
    for (const auto& member : members_in(root, key))
      // A name with placeholders is only known at run time.
      if (const auto name = json::text(member.value, "loop"); name && !computed(*name))
        all.emplace_back(*name);
  return all;
}

const std::shared_ptr<const Schema>& definition_schema() {
  static const auto schema = embedded_schema("schemas/fsm_loop/definition.schema.json");
  return schema;
}

/// Removes findings that the check of the file alone reports already.
void leave_out(Findings& findings, const Findings& known) {
  std::erase_if(findings, [&](const Finding& finding) {
    return std::any_of(known.begin(), known.end(), [&](const Finding& each) {
      return each.rule == finding.rule && each.pointer == finding.pointer;
    });
  });
}

/// Puts one definition together.
class Assembly {
 public:
  explicit Assembly(const Library& library) : library_(library) {}

  /// Resolves `from` and `import`. Empty after an error.
  std::optional<Json> whole(const std::string& path) {
    std::optional<Json> root = with_parents(path, "");
    if (root)
      add_fragments(*root);
    return failed_ ? std::nullopt : std::move(root);
  }

  Loaded judged(const std::string& path) {
    judged_->try_emplace(path);
    const std::optional<Json> root = whole(path);
    if (!root)
      return finished(std::nullopt);
    const auto document = load_document(root->dump(), Format::json);
    if (!document) {
      place(document.error().findings);
      return finished(std::nullopt);
    }
    place(definition_schema()->check(**document));
    if (!failed_ && only_fragments(**root))
      error(path, "", "the file only has fragments for other loops and is no loop itself");
    if (failed_)
      return finished(std::nullopt);
    Judged judged = judge_definition(**root, documents_);
    place(std::move(judged.findings));
    sub_loops(judged.definition);
    // The merged root has no `from` and `import` any more, so its generation must be set here.
    if (reuses_)
      judged.definition.generation = Generation::modern;
    return finished(long_form(judged.definition));
  }

 private:
  /// `asked_by`: where the file before names this one, as a pointer.
  std::optional<Json> with_parents(const std::string& path, const std::string& asked_by) {
    if (std::find(files_.begin(), files_.end(), path) != files_.end()) {
      std::string chain;
      for (const std::string& file : files_)
        chain += file + " -> ";
      error(files_.back(), asked_by,
            "the definitions build on each other in a circle: " + chain + path);
      return std::nullopt;
    }
    const Document* const found = library_.file(path);
    if (found == nullptr || !found->root().IsObject()) {
      error(files_.empty() ? path : files_.back(), asked_by, "there is no definition in " + path);
      return std::nullopt;
    }
    files_.push_back(path);
    documents_.push_back(found);
    Json own(found->root());
    resolve_imports(path, own);
    const auto parent = json::text(*own, "from");
    reuses_ = reuses_ || parent || json::child(*own, "import") != nullptr;
    if (!parent)
      return own;
    const Place there = place_of(folder_of(path), *parent, library_);
    if (there.path.empty()) {
      missing(path, "/from", *parent);
      return std::nullopt;
    }
    const std::optional<Json> base = with_parents(there.path, "/from");
    if (!base)
      return std::nullopt;
    Json all = merged(**base, *own);
    all.erase("from");
    return all;
  }

  /// Replaces the names of imports by paths, so that they do not depend on the folder of the file.
  void resolve_imports(const std::string& path, Json& own) {
    const std::vector<std::string> names = texts_of(*own, "import");
    if (names.empty())
      return;
    Json paths = Json::array();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Place there = place_of(folder_of(path), names[i], library_);
      if (there.path.empty())
        missing(path, item_pointer("/import", i), names[i]);
      paths.push(there.path);
    }
    own.set("import", paths);
  }

  /// Adds the imported fragments. Own fragments replace imported ones, and later imports replace
  /// earlier ones.
  void add_fragments(Json& root) {
    const std::vector<std::string> paths = texts_of(*root, "import");
    root.erase("import");
    if (paths.empty() || failed_)
      return;
    Json all = Json::object();
    for (const std::string& path : paths) {
      const Value& file = library_.file(path)->root();
      const Value* const fragments = json::child(file, "fragments");
      if (fragments == nullptr || !fragments->IsObject())
        error(path, "", "the file is imported for its `fragments`, but has none");
      else
        all = merged_fragments(std::move(all), file);
    }
    root.set("fragments", merged_fragments(all, *root));
  }

  /// Adds the fragments of a file. They replace those of the same name.
  static Json merged_fragments(Json all, const Value& file) {
    for (const auto& member : members_in(file, "fragments"))
      all.set(json::name(member.name), member.value);
    return all;
  }

  void sub_loops(const Definition& definition) {
    for (const State& state : definition.states) {
      const auto name = json::text(*state.body, "loop");
      if (!name || computed(*name))
        continue;
      const std::string pointer = member_pointer(state.pointer, "loop");
      const Place there = place_of(folder_of(files_.front()), *name, library_);
      if (there.path.empty()) {
        missing(file_of(pointer), pointer, *name);
        continue;
      }
      const Loaded& inner = judged_inner(there.path);
      if (inner.definition)
        parameters(state, *inner.definition);
      else if (!inner.error.empty())
        error(file_of(pointer), pointer,
              "the loop " + quoted_word(*name) + " cannot run: " + inner.error);
      else if (const auto root = Assembly(library_).whole(there.path))
        parameters(state, *root);
      if (unsupported_.empty())
        unsupported_ = inner.unsupported;
    }
  }

  /// Each loop is judged once. One that runs itself is not known yet, and found fit by that.
  const Loaded& judged_inner(const std::string& path) {
    if (!judged_->contains(path)) {
      Assembly other(library_);
      other.judged_ = judged_;
      Loaded loaded = other.judged(path);
      (*judged_)[path] = std::move(loaded);
    }
    return judged_->at(path);
  }

  /// Checks the values that the state gives to its sub-loop. The state, or the sub-loop's own
  /// context, has to give the required parameters.
  void parameters(const State& state, const Json& root) {
    const Value* const with = json::child(*state.body, "with");
    for (const auto& member : members_in(*state.body, "with"))
      if (const std::string why = binding_fault(*root, json::name(member.name), member.value);
          !why.empty())
        refused(member_pointer(member_pointer(state.pointer, "with"), json::name(member.name)),
                "the loop " + quoted_word(text_of(*state.body, "loop")) + " " + why, {});
    if (json::boolean(*state.body, "context_passthrough") == true)
      return;
    const Value* const context = json::child(*root, "context");
    for (const auto& member : members_in(*root, "parameters")) {
      const std::string key(json::name(member.name));
      if (json::boolean(member.value, "required") != true ||
          (with != nullptr && json::child(*with, key) != nullptr) ||
          (context != nullptr && json::child(*context, key) != nullptr))
        continue;
      refused(state.pointer,
              "the state " + quoted_word(state.name) + " runs a loop that needs the parameter " +
                  quoted_word(key),
              "with: {" + printable(key, 80) + ": ...}");
    }
    values(state, loop_of(*root));
  }

  void refused(const std::string& pointer, const std::string& why, const std::string& expected) {
    Finding finding;
    finding.rule = "fsm_loop/S14";
    finding.pointer = pointer;
    finding.message = why;
    finding.expected = expected;
    place({std::move(finding)});
  }

  /// Warns about the first value that the loop inside needs and does not get.
  void values(const State& state, const Loop& inner) {
    const Value* const with = json::child(*state.body, "with");
    Json context = with != nullptr && with->IsObject() ? Json(*with) : Json::object();
    for (const Parameter& each : inner.parameters)
      if (each.required || !each.fallback.is_null())
        context.set(each.name, "");
    // The name stands for any folder.
    const Json around = Json::object({{"run_dir", "/"}});
    if (auto added = add_inner_run_values(inner, *around, context); !added) {
      Finding finding;
      finding.rule = "fsm_loop/S38";
      finding.severity = Severity::warning;
      finding.pointer = member_pointer(state.pointer, "loop");
      finding.message = added.error().message + std::string(kRefusedStart);
      place({std::move(finding)});
    }
  }

  void missing(const std::string& path, const std::string& pointer, std::string_view name) {
    std::string paths;
    for (const std::string& each : candidate_paths(folder_of(path), name, library_))
      paths += (paths.empty() ? "" : " nor ") + each;
    error(path, pointer,
          "no file found for " + quoted_word(name) +
              (paths.empty() ? ": the path leads out of the project" : ": neither " + paths) +
              (paths.empty() ? "" : "; baton follows no link"));
  }

  void error(const std::string& path, const std::string& pointer, const std::string& message) {
    FindingList list("fsm_loop");
    list.error("S13", pointer, message);
    for (Finding& finding : list.take())
      put(path, std::move(finding));
  }

  /// The first file that has this pointer. If none has it, the definition's own file.
  const std::string& file_of(const std::string& pointer) const {
    for (std::size_t i = 0; i < files_.size(); ++i)
      if (json::at(documents_[i]->root(), pointer) != nullptr)
        return files_[i];
    return files_.front();
  }

  void place(Findings findings) {
    for (Finding& finding : findings) {
      const std::string path = file_of(finding.pointer);
      put(path, std::move(finding));
    }
  }

  void put(const std::string& path, Finding finding) {
    const Document* const there = library_.file(path);
    if (there != nullptr) {
      finding.pointer = existing_pointer(there->root(), std::move(finding.pointer));
      finding.span = there->locate(finding.pointer);
    }
    const bool error = finding.severity == Severity::error;
    if (error && !failed_)
      first_ = line_about(path, there != nullptr, finding);
    else if ((finding.rule == "fsm_loop/S8" || finding.rule == "fsm_loop/S31" ||
              finding.rule == "fsm_loop/S38") &&
             unsupported_.empty())
      unsupported_ = line_about(path, there != nullptr, finding);
    failed_ = failed_ || error;
    findings_[path].push_back(std::move(finding));
  }

  static std::string line_about(const std::string& path, bool placed, const Finding& finding) {
    const Position at = finding.span.begin;
    return path + (placed ? ":" + std::to_string(at.line) + ":" + std::to_string(at.column) : "") +
           ": " + finding.message +
           (finding.suggestion.empty() ? "" : "; did you mean " + finding.suggestion + "?");
  }

  Loaded finished(std::optional<Json> definition) {
    Loaded loaded;
    if (!failed_)
      loaded.definition = std::move(definition);
    loaded.findings = std::move(findings_);
    loaded.error = std::move(first_);
    loaded.unsupported = std::move(unsupported_);
    return loaded;
  }

  const Library& library_;
  std::vector<std::string> files_;  ///< the definition, then its parents
  std::vector<const Document*> documents_;
  std::map<std::string, Findings> findings_;
  std::shared_ptr<std::map<std::string, Loaded>> judged_ =
      std::make_shared<std::map<std::string, Loaded>>();  ///< inner loops, by path
  bool reuses_ = false;  ///< the files use `from` or `import`, which are of the later generation
  bool failed_ = false;
  std::string first_;
  std::string unsupported_;
};

}  // namespace

const Document* Library::file(std::string_view path) const {
  const auto found = files.find(path);
  return found == files.end() ? nullptr : found->second.get();
}

Library library_of(const FlowState& docs, const Json& options) {
  Library library;
  if (!options.is_null())
    library.folders = texts_of(*options, "library");
  for (const auto& [path, accepted] : docs)
    if (accepted.kind == "related" ||
        (accepted.present && (accepted.kind == "definition" || accepted.kind == "read")))
      library.files.emplace(path, accepted.document);
  return library;
}

std::vector<std::string> candidate_paths(std::string_view folder, std::string_view name,
                                         const Library& library) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& in, const std::string& path) {
    std::string whole = normalized(in.empty() ? path : in + "/" + path);
    const bool below =
        !whole.starts_with('/') ||
        std::any_of(library.folders.begin(), library.folders.end(),
                    [&](const std::string& each) { return whole.starts_with(each + "/"); });
    if (!path.starts_with('/') && !whole.starts_with("../") && below &&
        std::find(all.begin(), all.end(), whole) == all.end())
      all.push_back(std::move(whole));
  };
  std::vector<std::string> folders = {std::string(folder)};
  folders.insert(folders.end(), library.folders.begin(), library.folders.end());
  for (const std::string& each : folders) {
    if (is_file_name(name)) {
      add(each, std::string(name));
    } else if (!name.empty()) {
      add(each, std::string(name) + ".fsm.yaml");
      add(each, std::string(name) + ".yaml");
    }
  }
  return all;
}

Place place_of(std::string_view folder, std::string_view name, const Library& library) {
  Place place;
  for (std::string& path : candidate_paths(folder, name, library)) {
    const auto found = library.files.find(path);
    if (found == library.files.end())
      place.unknown.push_back(std::move(path));
    else if (found->second != nullptr) {
      place.path = std::move(path);
      break;
    }
  }
  return place;
}

std::vector<std::string> wanted(const std::string& path, const Library& library) {
  std::set<std::string> all;
  std::set<std::string> seen;
  std::deque<std::string> next = {path};
  while (!next.empty()) {
    const std::string each = std::move(next.front());
    next.pop_front();
    if (!seen.insert(each).second)
      continue;
    const auto found = library.files.find(each);
    if (found == library.files.end()) {
      all.insert(each);
      continue;
    }
    if (found->second == nullptr)
      continue;
    for (const std::string& name : names_in(found->second->root())) {
      Place place = place_of(folder_of(each), name, library);
      all.insert(place.unknown.begin(), place.unknown.end());
      if (!place.path.empty())
        next.push_back(std::move(place.path));
    }
  }
  return {all.begin(), all.end()};
}

Loaded load(const std::string& path, const Library& library) {
  return Assembly(library).judged(path);
}

std::vector<std::string> related(const FlowState& docs, const Json& options) {
  const Library library = library_of(docs, options);
  std::set<std::string> all;
  for (const auto& [path, accepted] : docs)
    if (accepted.kind == "definition" && accepted.present)
      for (std::string& each : wanted(path, library))
        all.insert(std::move(each));
  return {all.begin(), all.end()};
}

std::map<std::string, Findings> check_flow(const FlowState& docs, const Json& options) {
  std::map<std::string, Findings> all;
  const Library library = library_of(docs, options);
  const bool looked = std::any_of(docs.begin(), docs.end(),
                                  [](const auto& row) { return row.second.kind == "related"; });
  for (const auto& [path, accepted] : docs) {
    if (!looked || accepted.kind != "definition" || !accepted.present ||
        names_in(accepted.document->root()).empty() || !wanted(path, library).empty())
      continue;
    Loaded loaded = load(path, library);
    for (auto& [file, findings] : loaded.findings) {
      const Document* const found = library.file(file);
      // A file of fragments need not be a definition, so the rules of a definition do not apply to
      // it.
      if (found != nullptr && definition_schema()->check(*found).empty())
        leave_out(findings, check_definition(*found));
      all[file].insert(all[file].end(), findings.begin(), findings.end());
    }
  }
  std::erase_if(all, [](const auto& row) { return row.second.empty(); });
  return all;
}

}  // namespace baton::fsm_loop
