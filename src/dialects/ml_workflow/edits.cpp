#include "dialects/ml_workflow/edits.h"

#include <algorithm>

namespace baton::ml_workflow {

void Edits::make(const std::string& pointer, std::string_view text) {
  const Value* const there = json::at(scene_.root, pointer);
  if ((there != nullptr && !there->IsNull()) ||
      std::find(made_.begin(), made_.end(), pointer) != made_.end())
    return;
  made_.push_back(pointer);
  edits_.push_back({pointer, std::string(text)});
}

void Edits::make_parents(const std::string& pointer) {
  for (auto slash = pointer.find('/', 1); slash != std::string::npos;
       slash = pointer.find('/', slash + 1))
    make(pointer.substr(0, slash), "{}");
}

void Edits::set(const std::string& pointer, const Json& value) {
  make_parents(pointer);
  edits_.push_back({pointer, value.dump()});
}

void Edits::fill(const std::string& pointer, const Json& value) {
  if (json::at(scene_.root, pointer) != nullptr)
    return;
  make_parents(pointer);
  make(pointer, value.dump());
}

void Edits::append(const std::string& pointer, const Json& value) {
  make_parents(pointer);
  make(pointer, "[]");
  edits_.push_back({pointer + "/-", value.dump()});
}

std::size_t Edits::appended(const std::string& pointer) const {
  return static_cast<std::size_t>(
      std::count_if(edits_.begin(), edits_.end(),
                    [&](const json::Edit& edit) { return edit.pointer == pointer + "/-"; }));
}

void Edits::because(const std::string& why) {
  why_ += (why_.empty() ? "" : "; ") + why;
}

std::vector<Update> Edits::updates() const {
  if (edits_.empty() || !scene_.file.present)
    return {};
  std::vector<json::Edit> all = edits_;
  all.push_back({"/updated_at", json::quote(scene_.now())});
  return {SetMembers{scene_.path, scene_.file.document->digest(), std::move(all), why_}};
}

}  // namespace baton::ml_workflow
