#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dialects/ml_workflow/scene.h"

namespace baton::ml_workflow {

/// Changes of the state file that are made together.
class Edits {
 public:
  explicit Edits(const Scene& scene) : scene_(scene) {}

  void set(const std::string& pointer, const Json& value);
  /// Sets what is not there.
  void fill(const std::string& pointer, const Json& value);
  /// Appends to a list; it and the object it lies in are made where they are missing.
  void append(const std::string& pointer, const Json& value);
  void because(const std::string& why);
  bool empty() const { return edits_.empty(); }
  std::size_t appended(const std::string& pointer) const;
  /// The one write, with updated_at; nothing to be written is no update.
  std::vector<Update> updates() const;

 private:
  void make(const std::string& pointer, std::string_view text);
  void make_parents(const std::string& pointer);

  const Scene& scene_;
  std::vector<json::Edit> edits_;
  std::vector<std::string> made_;
  std::string why_;
};

}  // namespace baton::ml_workflow
