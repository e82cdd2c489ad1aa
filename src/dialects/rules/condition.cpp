// SPDX-License-Identifier: Apache-2.0
#include "dialects/rules/condition.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/json/numbers.h"
#include "base/text.h"
#include "dialects/tables.h"

namespace baton::rules {
namespace {

struct TestRow {
  std::string_view word;
  Test test;
  bool compares;
  std::string_view spoken;
};
constexpr std::array kTests = {
    TestRow{"equals", Test::equals, false, " is "},
    TestRow{"not", Test::differs, false, " is not "},
    TestRow{"in", Test::one_of, false, " is one of "},
    TestRow{"not_in", Test::none_of, false, " is none of "},
    TestRow{"exists", Test::exists, false, " exists: "},
    TestRow{"below", Test::below, true, " is below "},
    TestRow{"at_most", Test::at_most, true, " is at most "},
    TestRow{"at_least", Test::at_least, true, " is at least "},
    TestRow{"above", Test::above, true, " is above "},
    TestRow{"all", Test::all, false, "all "},
    TestRow{"any", Test::any, false, "any "},
    TestRow{"none", Test::none, false, "none "},
};
static_assert(in_enum_order(kTests, &TestRow::test, Test::none));

const TestRow& row_for(Test test) {
  return kTests.at(static_cast<std::size_t>(test));
}

bool lists(const Value& list, const Value& item) {
  return list.IsArray() && std::any_of(list.Begin(), list.End(),
                                       [&](const Value& each) { return json::equal(each, item); });
}

bool compare(Test test, const Value& found, const Value& limit) {
  switch (test) {
    case Test::below:
      return is_less(found, limit);
    case Test::at_most:
      return !is_less(limit, found);
    case Test::at_least:
      return !is_less(found, limit);
    case Test::above:
      return is_less(limit, found);
    case Test::equals:
    case Test::differs:
    case Test::one_of:
    case Test::none_of:
    case Test::exists:
    case Test::all:
    case Test::any:
    case Test::none:
      break;
  }
  return false;
}

/// The tests that a condition names, in the order of the table.
std::vector<const TestRow*> tests_of(const Value& value) {
  std::vector<const TestRow*> named;
  for (const TestRow& row : kTests)
    if (json::child(value, row.word) != nullptr)
      named.push_back(&row);
  return named;
}

constexpr bool is_over_all(Test test) {
  return test == Test::all || test == Test::any || test == Test::none;
}

std::string operand_fault(const TestRow& row, const Value& operand) {
  const std::string word(row.word);
  const bool list = row.test == Test::one_of || row.test == Test::none_of || is_over_all(row.test);
  if (list && (!operand.IsArray() || operand.Empty()))
    return "`" + word + "` takes a list of values";
  if (row.test == Test::exists && !operand.IsBool())
    return "`exists` takes true or false";
  const auto place = json::text(operand);
  if (row.compares && !operand.IsNumber() && !(place && parse_place(*place)))
    return "`" + word + "` takes a number, or the place of a number such as /limit";
  return {};
}

/// A word without its quotes, if it cannot be taken for another value then.
std::string bare_or_quoted(const Value& value) {
  const std::string word(json::text(value).value_or(""));
  const bool bare = plain_name(word) && !(word.front() >= '0' && word.front() <= '9') &&
                    word != "true" && word != "false" && word != "null";
  return bare ? word : json::dump(value);
}

}  // namespace

std::optional<Place> parse_place(std::string_view text) {
  const auto slash = text.find('/');
  const auto colon = text.substr(0, slash).find(':');
  Place place;
  if (colon != std::string_view::npos)
    place.document = text.substr(0, colon);
  place.pointer = colon == std::string_view::npos ? text : text.substr(colon + 1);
  const auto tokens = json::pointer_tokens(place.pointer);
  const bool named = colon == std::string_view::npos || !place.document.empty();
  if (!named || !tokens || tokens->empty())
    return std::nullopt;
  return place;
}

std::string text(const Place& place) {
  return place.document.empty() ? place.pointer : place.document + ":" + place.pointer;
}

std::string pointer_for(const Place& place, const Subject& subject) {
  const std::string token = json::pointer_token(subject);
  std::string pointer = place.pointer;
  const auto at = pointer.find(kSubject);
  return at == std::string::npos ? pointer : pointer.replace(at, kSubject.size(), token);
}

std::string condition_fault(const Value& value) {
  const auto pointer = json::text(value, "pointer");
  if (!pointer)
    return "a condition needs a `pointer`";
  if (!parse_place(*pointer))
    return "'" + printable(*pointer, 80) +
           "' is not a pointer; write /member, or NAME:/member for another document";
  const auto tests = tests_of(value);
  if (tests.size() != 1)
    return "a condition has exactly one of equals, not, in, not_in, exists, below, at_most, "
           "at_least, above, all, any and none";
  return operand_fault(*tests.front(), *json::child(value, tests.front()->word));
}

std::optional<Condition> read_condition(const Value& value) {
  if (!condition_fault(value).empty())
    return std::nullopt;
  const TestRow& row = *tests_of(value).front();
  return Condition{*parse_place(*json::text(value, "pointer")), row.test,
                   Json(*json::child(value, row.word))};
}

std::optional<Place> limit_place(const Condition& condition) {
  const auto place =
      row_for(condition.test).compares ? json::text(*condition.operand) : std::nullopt;
  return place ? parse_place(*place) : std::nullopt;
}

bool holds(const Condition& condition, const Value* found, const Value* limit) {
  const Value& operand = *condition.operand;
  switch (condition.test) {
    case Test::equals:
      return found != nullptr && json::equal(*found, operand);
    case Test::differs:
      return found == nullptr || !json::equal(*found, operand);
    case Test::one_of:
      return found != nullptr && lists(operand, *found);
    case Test::none_of:
      return found == nullptr || !lists(operand, *found);
    case Test::exists:
      return (found != nullptr) == json::boolean(operand).value_or(true);
    case Test::below:
    case Test::at_most:
    case Test::at_least:
    case Test::above: {
      const Value* const bound = limit_place(condition) ? limit : &operand;
      return found != nullptr && found->IsNumber() && bound != nullptr && bound->IsNumber() &&
             compare(condition.test, *found, *bound);
    }
    case Test::all:
    case Test::any:
    case Test::none:
      break;
  }
  return false;
}

bool is_over_all(const Condition& condition) {
  return is_over_all(condition.test);
}

bool is_listed(const Condition& condition, const Value* found) {
  return found != nullptr && lists(*condition.operand, *found);
}

bool holds_over(const Condition& condition, std::span<const Value* const> found) {
  const auto listed = static_cast<std::size_t>(std::count_if(
      found.begin(), found.end(), [&](const Value* each) { return is_listed(condition, each); }));
  if (found.empty())
    return false;
  return condition.test == Test::all ? listed == found.size()
                                     : (listed > 0) == (condition.test == Test::any);
}

std::string text(const Condition& condition) {
  if (is_over_all(condition)) {
    std::vector<std::string> words;
    for (const Value& each : condition.operand->GetArray())
      words.push_back(bare_or_quoted(each));
    return std::string(row_for(condition.test).spoken) + text(condition.place) + ": " +
           printable(join(words, ", "), 80);
  }
  return text(condition.place) + std::string(row_for(condition.test).spoken) +
         printable(condition.operand.dump(), 80);
}

}  // namespace baton::rules
