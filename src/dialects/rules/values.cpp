#include "dialects/rules/values.h"

#include "base/placeholders.h"

namespace baton::rules {
namespace {

std::string shown(const Value* value) {
  if (value == nullptr)
    return {};
  const auto text = json::text(*value);
  return text ? std::string(*text) : json::dump(*value);
}

}  // namespace

std::map<std::string, std::string> values_for(const View& view, const Scene& scene,
                                              const Memo& memo, const Subject& subject) {
  std::map<std::string, std::string> values;
  for (const auto& [name, place] : scene.rule().values)
    values[name] = shown(scene.value(place, subject));
  const auto stage = view.stages.find(subject);
  const StageState state = stage == view.stages.end() ? StageState{} : stage->second;
  const auto said = memo.said.find(subject);
  const Saying last = said == memo.said.end() ? Saying{} : said->second;
  values["flow_name"] = view.flow.name;
  values["subject"] = subject;
  values["stage"] = state.stage;
  values["previous"] = state.previous;
  values["entry"] = std::to_string(state.entries);
  values["now"] = iso_time(view.wall);
  values["decision"] = last.decision;
  values["decided_by"] = last.by;
  values["comment"] = last.comment;
  return values;
}

Json filled(const Json& value, const Scene& scene, const Subject& subject,
            const std::map<std::string, std::string>& values) {
  const auto text = json::text(*value);
  if (!text)
    return value;
  for (const auto& [name, place] : scene.rule().values)
    if (*text == "${" + name + "}") {
      const Value* const found = scene.value(place, subject);
      return found == nullptr ? Json() : Json(*found);
    }
  const auto done = fill(*text, values);
  return done ? Json(*done) : value;
}

}  // namespace baton::rules
