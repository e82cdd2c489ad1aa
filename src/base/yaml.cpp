#include "base/yaml.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <set>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "base/parse.h"
#include "base/text.h"
#include "base/utf8.h"

namespace baton {
namespace {

/// Thrown inside this file only, and caught in `parse_yaml`.
struct YamlFault {
  std::string message;
  Position at;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?` of the YAML 1.2 core
/// schema.
bool is_float(std::string_view text) {
  const auto digits = [&] {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  if (text.starts_with('+') || text.starts_with('-'))
    text.remove_prefix(1);
  std::size_t mantissa = digits();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    mantissa += digits();
  }
  if (mantissa == 0)
    return false;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-'))
      text.remove_prefix(1);
    if (digits() == 0)
      return false;
  }
  return text.empty();
}

bool is_special_float(std::string_view text) {
  if (text == ".nan" || text == ".NaN" || text == ".NAN")
    return true;
  if (text.starts_with('+') || text.starts_with('-'))
    text.remove_prefix(1);
  return text == ".inf" || text == ".Inf" || text == ".INF";
}

std::optional<Json> integer_of(std::string_view digits, int base) {
  if (digits.starts_with('+'))
    digits.remove_prefix(1);
  const char* end = digits.data() + digits.size();
  std::int64_t value = 0;
  const auto result = std::from_chars(digits.data(), end, value, base);
  if (result.ec == std::errc() && result.ptr == end)
    return Json(value);
  std::uint64_t natural = 0;
  const auto second = std::from_chars(digits.data(), end, natural, base);
  if (second.ec == std::errc() && second.ptr == end)
    return Json(natural);
  return std::nullopt;
}

bool one_of(std::string_view text, std::string_view a, std::string_view b, std::string_view c) {
  return text == a || text == b || text == c;
}

/// A plain scalar by the core schema: `yes`, `no`, `on` and `012:30` are strings, as in YAML 1.2.
std::optional<Json> number_of(std::string_view text) {
  if (text.starts_with("0o"))
    return integer_of(text.substr(2), 8);
  if (text.starts_with("0x"))
    return integer_of(text.substr(2), 16);
  const std::string_view digits =
      text.substr(text.starts_with('+') || text.starts_with('-') ? 1 : 0);
  if (!digits.empty() && std::all_of(digits.begin(), digits.end(), is_digit))
    if (auto integer = integer_of(text, 10))
      return integer;
  if (!is_float(text))
    return std::nullopt;
  // from_chars knows no '+' and wants a digit on each side of the point only loosely: ".5" and "1."
  // pass.
  const std::string_view spelled = text.starts_with('+') ? text.substr(1) : text;
  double value = 0;
  const auto result = std::from_chars(spelled.data(), spelled.data() + spelled.size(), value);
  if (result.ec != std::errc())
    return std::nullopt;
  return Json(value);
}

Json plain_scalar(std::string_view text) {
  if (text.empty() || text == "~" || one_of(text, "null", "Null", "NULL"))
    return {};
  if (one_of(text, "true", "True", "TRUE"))
    return Json(true);
  if (one_of(text, "false", "False", "FALSE"))
    return Json(false);
  if (auto number = number_of(text))
    return std::move(*number);
  return Json(text);
}

/// Builds JSON from the nodes of one document. Anchored nodes are copied each time they are used,
/// so the number of values is limited: ten lines of YAML can stand for a billion of them.
class Builder {
 public:
  Builder(std::string_view text, const LoadLimits& limits, const YamlMark& mark)
      : text_(text),
        limits_(limits),
        mark_(mark),
        // yaml-cpp does not count a byte order mark.
        line_begins_{text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0} {
    for (std::size_t at = text.find('\n'); at != std::string_view::npos;
         at = text.find('\n', at + 1))
      line_begins_.push_back(at + 1);
    // Generous for honest files, far below what hurts.
    max_values_ = 1000 + text.size();
  }

  Json build(const YAML::Node& node) {
    auto pool = std::make_unique<JsonPool>(std::clamp<std::size_t>(text_.size() * 4, 256, 65536));
    pool_ = pool.get();
    Value root = value(node, "", 0);
    return {std::move(pool), std::move(root)};
  }

  Position position(const YAML::Mark& mark) const {
    if (mark.is_null())
      return {};
    const auto line = static_cast<std::size_t>(std::max(mark.line, 0));
    const auto column = static_cast<std::size_t>(std::max(mark.column, 0));
    // yaml-cpp counts bytes as columns; a mark behind the end is possible.
    const std::size_t begin = line < line_begins_.size() ? line_begins_[line] : text_.size();
    const std::size_t offset = std::min(begin + column, text_.size());
    return {.line = line + 1,
            .column = 1 + utf8_count(text_.substr(begin, offset - begin)),
            .offset = offset};
  }

 private:
  Value value(const YAML::Node& node, const std::string& pointer, std::size_t depth) {
    const Position at = position(node.Mark());
    if (depth > limits_.max_depth)
      throw YamlFault{"nested deeper than " + std::to_string(limits_.max_depth) + " levels", at};
    if (++values_ > max_values_)
      throw YamlFault{"aliases expand to more than " + std::to_string(max_values_) + " values", at};
    switch (node.Type()) {
      case YAML::NodeType::Map:
        mark_(pointer, {at, at}, false);
        return object(node, pointer, depth);
      case YAML::NodeType::Sequence:
        mark_(pointer, {at, at}, false);
        return array(node, pointer, depth);
      case YAML::NodeType::Scalar:
        mark_(pointer, {at, scalar_end(node, at)}, false);
        return scalar(node, at);
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        break;
    }
    mark_(pointer, {at, at}, false);
    return {};
  }

  Value object(const YAML::Node& node, const std::string& pointer, std::size_t depth) {
    if (node.size() > limits_.max_object_members)
      throw YamlFault{
          "an object with more than " + std::to_string(limits_.max_object_members) + " members",
          position(node.Mark())};
    Value out(rapidjson::kObjectType);
    std::set<std::string> seen;
    for (const auto& member : node) {
      const Position at = position(member.first.Mark());
      const std::string name = key(member.first, at);
      if (!seen.insert(name).second)
        throw YamlFault{"the key " + printable(json::quote(name), 100) + " is there twice", at};
      const std::string inside = pointer + "/" + json::pointer_token(name);
      mark_(inside, {at, scalar_end(member.first, at)}, true);
      Value inner = value(member.second, inside, depth + 1);
      out.AddMember(string(name), std::move(inner), *pool_);
    }
    return out;
  }

  Value array(const YAML::Node& node, const std::string& pointer, std::size_t depth) {
    Value out(rapidjson::kArrayType);
    std::size_t index = 0;
    for (const auto& item : node)
      out.PushBack(value(item, pointer + "/" + std::to_string(index++), depth + 1), *pool_);
    return out;
  }

  Value scalar(const YAML::Node& node, const Position& at) {
    const std::string& text = node.Scalar();
    const std::string& tag = node.Tag();
    if (const auto bad = bad_utf8(text))
      throw YamlFault{"an escape that is no character", at};
    if (tag == "!" || tag == "tag:yaml.org,2002:str")
      return string(text);
    if (tag != "?" && !tag.empty())
      throw YamlFault{"the tag " + printable(tag, 100) + " is not known", at};
    if (is_special_float(text))
      throw YamlFault{"the number " + text + " has no place in JSON", at};
    return {*plain_scalar(text), *pool_};
  }

  /// The name of a member. yaml-cpp turns the keys `~` and `null` into nothing and keeps no text;
  /// it is still in the file.
  std::string key(const YAML::Node& node, const Position& at) const {
    if (node.IsScalar()) {
      const bool plain = node.Tag() == "?" || node.Tag().empty();
      if (plain && node.Scalar() == "<<")
        throw YamlFault{"merge keys (<<) are not part of YAML 1.2", at};
      if (const auto bad = bad_utf8(node.Scalar()))
        throw YamlFault{"an escape that is no character", at};
      return node.Scalar();
    }
    if (!node.IsNull())
      throw YamlFault{"a key has to be a string", at};
    const std::string_view rest = text_.substr(at.offset);
    for (const std::string_view spelling : {"null", "Null", "NULL", "~"})
      if (rest.starts_with(spelling))
        return std::string(spelling);
    throw YamlFault{"a key is missing", at};
  }

  /// Behind a scalar that stands in the text as it is, with its quotes; else the end of the line.
  Position scalar_end(const YAML::Node& node, const Position& at) const {
    const std::string_view rest = text_.substr(at.offset);
    const bool quoted = rest.starts_with('"') || rest.starts_with('\'');
    const std::string scalar = node.IsScalar() ? node.Scalar() : std::string();
    std::size_t length = scalar.size() + (quoted ? 2U : 0U);
    if (rest.substr(quoted ? 1 : 0, scalar.size()) != scalar)
      length = std::min(rest.find_first_of("\r\n"), rest.size());
    length = std::min(length, rest.size());
    const std::string_view inside = rest.substr(0, length);
    if (inside.find('\n') != std::string_view::npos)
      return at;
    return {
        .line = at.line, .column = at.column + utf8_count(inside), .offset = at.offset + length};
  }

  Value string(std::string_view text) {
    return {text.data(), static_cast<rapidjson::SizeType>(text.size()), *pool_};
  }

  std::string_view text_;
  const LoadLimits& limits_;
  const YamlMark& mark_;
  std::vector<std::size_t> line_begins_;
  std::size_t max_values_ = 0;
  std::size_t values_ = 0;
  JsonPool* pool_ = nullptr;
};

/// Counts what would become nodes, before any of them takes memory.
class Counter : public YAML::EventHandler {
 public:
  explicit Counter(std::size_t most) : most_(most) {}
  // The names are yaml-cpp's.
  // NOLINTBEGIN(readability-identifier-naming)
  void OnDocumentStart(const YAML::Mark& mark) override { document_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { one_more(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { one_more(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string&) override {
    one_more(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    one_more(mark);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    one_more(mark);
  }
  void OnMapEnd() override {}
  // NOLINTEND(readability-identifier-naming)
  /// Where the last document begins.
  const YAML::Mark& document() const { return document_; }

 private:
  void one_more(const YAML::Mark& mark) {
    if (++count_ > most_)
      throw YAML::ParserException(mark, "more than " + std::to_string(most_) + " values");
  }
  std::size_t most_;
  std::size_t count_ = 0;
  YAML::Mark document_;
};

/// Looks through the text before any of it takes memory; throws when there is too much of it. Gives
/// the place of what follows the first document, if anything does.
std::optional<YAML::Mark> look_through(std::string_view text, std::size_t most) {
  constexpr std::string_view kMarks = "[{,:-?*\n";
  // The scanner keeps a whole line, for a colon may make a key of what it has seen.
  constexpr std::size_t kMostInLine = 10'000;
  std::size_t in_line = 0;
  for (const char c : text) {
    if (kMarks.find(c) == std::string_view::npos)
      continue;
    in_line = c == '\n' ? 0 : in_line + 1;
    if (in_line > kMostInLine)
      throw YAML::ParserException(YAML::Mark::null_mark(), "a line with too much punctuation");
  }
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  Counter counter(most);
  // Twice and no more: where a document cannot begin (a comma), yaml-cpp finds an empty one, and
  // does not move on; LoadAll collects them for ever.
  if (!parser.HandleNextDocument(counter) || !parser.HandleNextDocument(counter))
    return std::nullopt;
  return counter.document();
}

std::string unexpected(std::string_view rest) {
  constexpr std::string_view kInside = ",]}:";
  return !rest.empty() && kInside.find(rest.front()) != std::string_view::npos
             ? std::string("an unexpected '") + rest.front() + "'"
             : "more than one YAML document in a file";
}

LoadFailure failure(std::string message, Position at) {
  Finding finding{.rule = "json", .message = std::move(message), .span = {at, at}};
  return {.findings = {std::move(finding)}, .incomplete = false};
}

}  // namespace

tl::expected<Json, LoadFailure> parse_yaml(std::string_view text, const LoadLimits& limits,
                                           const YamlMark& mark) {
  Builder builder(text, limits, mark);
  try {
    if (const auto more = look_through(text, limits.max_yaml_nodes)) {
      const Position at = builder.position(*more);
      return tl::unexpected(failure(unexpected(text.substr(at.offset)), at));
    }
    return builder.build(YAML::Load(std::string(text)));
  } catch (const YamlFault& fault) {
    return tl::unexpected(failure(fault.message, fault.at));
  } catch (const YAML::Exception& error) {
    return tl::unexpected(failure(printable(error.msg, 200), builder.position(error.mark)));
  }
}

}  // namespace baton
