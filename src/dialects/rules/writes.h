#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "dialects/rules/memo.h"
#include "dialects/rules/scene.h"

namespace baton::rules {

/// Edits of one document. The objects a member lies in are made where they are missing.
class Edits {
 public:
  void set(const Value& root, const std::string& pointer, const std::string& text);
  const std::vector<json::Edit>& all() const { return all_; }

 private:
  std::vector<json::Edit> all_;
  std::set<std::string> set_;  ///< their pointers
};

/// What the reactions of one deciding write: one update per file, remembered in the memo with what
/// was there before.
class Writes {
 public:
  Writes(const View& view, const Scene& scene, Memo& memo)
      : view_(view), scene_(scene), memo_(memo) {}

  /// Sets the members for the subject, once per entry into its stage; `key` names the reaction. A
  /// file that cannot be written now gives the hold that says so, and nothing is set.
  std::optional<Hold> set(const Subject& subject, const std::string& key,
                          const std::vector<Member>& members, const std::string& why);
  /// That reaction has set them for this entry.
  bool done(const Subject& subject, const std::string& key) const;
  std::vector<Update> updates() const;

 private:
  /// Why one of them cannot be set now.
  std::optional<Hold> unwritable(const Subject& subject, const std::vector<Member>& members) const;
  /// Nothing would be changed by setting them.
  bool stand(const Subject& subject, const std::vector<Member>& members) const;
  void add(const Accepted& file, const std::string& path, const std::string& pointer,
           const Json& value);
  void begin(const Accepted& file, const std::string& path);

  struct File {
    Digest assumes;
    Edits edits;
    std::map<std::string, std::size_t> members;  ///< by pointer, of its last writing
    std::string why;
  };

  const View& view_;
  const Scene& scene_;
  Memo& memo_;
  std::map<std::string, File> files_;
};

/// The text of a new version whose writer cannot have seen what baton wrote last, with that set in
/// it, one write after the other: each member that still is as it was before. Empty when there is
/// none.
std::string with_own_writes(const Document& version, std::span<const Writing> writings);

}  // namespace baton::rules
