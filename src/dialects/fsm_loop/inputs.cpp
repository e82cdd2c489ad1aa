#include "dialects/fsm_loop/inputs.h"

#include <algorithm>

#include "base/json/document.h"
#include "base/text.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/definition.h"

namespace baton::fsm_loop {
namespace {

bool fits(const Parameter& parameter, const Value& value) {
  if (parameter.type == "integer")
    return json::integer(value).has_value();
  if (parameter.type == "number")
    return json::number(value).has_value();
  if (parameter.type == "boolean")
    return value.IsBool();
  if (parameter.type == "enum" && parameter.values->IsArray())
    return std::any_of(parameter.values->Begin(), parameter.values->End(),
                       [&](const Value& each) { return json::equal(each, value); });
  return true;
}

bool empty(const Value* value) {
  return value == nullptr || value->IsNull() ||
         (value->IsString() && value->GetStringLength() == 0);
}

}  // namespace

Result<void> fill_parameters(const Loop& loop, Json& context) {
  for (const Parameter& parameter : loop.parameters) {
    const Value* const given = json::child(*context, parameter.name);
    if (given == nullptr && !parameter.fallback.is_null()) {
      context.set(parameter.name, parameter.fallback);
      continue;
    }
    if (given == nullptr && json::child(*loop.context, parameter.name) != nullptr)
      continue;
    if (given == nullptr && parameter.required)
      return fail(Errc::usage, "the loop " + loop.name + " needs the parameter " +
                                   quoted_word(parameter.name) + "; `--set " + parameter.name +
                                   "=VALUE` gives it");
    if (given != nullptr && !fits(parameter, *given))
      return fail(Errc::usage, "the parameter " + quoted_word(parameter.name) + " is of the type " +
                                   parameter.type + "; " + printable(json::dump(*given), 80) +
                                   " is not" +
                                   (parameter.type == "enum" && !parameter.values.is_null()
                                        ? " one of " + printable(parameter.values.dump(), 200)
                                        : ""));
  }
  return {};
}

void unpack_input(const Loop& loop, std::string_view input, Json& context) {
  const auto parsed = parse_json(input);
  const auto known = [&](std::string_view name) {
    return json::child(*loop.context, name) != nullptr ||
           std::any_of(loop.parameters.begin(), loop.parameters.end(),
                       [&](const Parameter& each) { return each.name == name; });
  };
  if (parsed && (*parsed)->IsObject() && !(*parsed)->ObjectEmpty() &&
      std::all_of((*parsed)->MemberBegin(), (*parsed)->MemberEnd(),
                  [&](const auto& member) { return known(json::name(member.name)); })) {
    context = merged(*context, **parsed);
    return;
  }
  context.set(loop.input_key, input);
}

Result<void> check_required(const Loop& loop, const Value& context) {
  for (const std::string& name : loop.required_inputs)
    if (empty(json::child(context, name)))
      return fail(Errc::usage, "the loop " + loop.name + " needs " + quoted_word(name) +
                                   "; `--set " + name + "=VALUE` gives it");
  return {};
}

}  // namespace baton::fsm_loop
