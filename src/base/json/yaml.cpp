// SPDX-License-Identifier: Apache-2.0
#include "base/json/yaml.h"

#include <algorithm>
#include <memory>
#include <set>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "base/json/parse.h"
#include "base/text.h"
#include "base/utf8.h"

namespace baton {
namespace {

/// Thrown inside this file only, and caught in `parse_yaml`.
struct YamlFault {
  std::string message;
  Position at;
  std::string pointer = {};
};

/// Builds JSON from the nodes of one document. Anchored nodes are copied at each use, so the number
/// of values is limited: ten lines of YAML can stand for a billion values.
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
    // Enough for files without hostile aliases, and far below a number that takes too much memory.
    max_values_ = 1000 + text.size();
  }

  Json build(const YAML::Node& node) {
    auto pool = std::make_unique<JsonPool>(std::clamp<std::size_t>(text_.size() * 4, 256, 65536));
    pool_ = pool.get();
    Value root = value(node, "", 0);
    return {std::move(pool), std::move(root)};
  }

  Position position(std::size_t offset) const {
    const auto next = std::upper_bound(line_begins_.begin(), line_begins_.end(), offset);
    const auto line = static_cast<std::size_t>(next - line_begins_.begin());
    const std::size_t begin = line == 0 ? 0 : line_begins_[line - 1];
    return {.line = std::max<std::size_t>(line, 1),
            .column = 1 + utf8_count(text_.substr(begin, offset - begin)),
            .offset = offset};
  }

  Position position(const YAML::Mark& mark) const {
    if (mark.is_null())
      return {};
    const std::size_t begin = line_begin(mark);
    const std::size_t offset = this->offset(mark);
    return {.line = static_cast<std::size_t>(std::max(mark.line, 0)) + 1,
            .column = 1 + utf8_count(text_.substr(begin, offset - begin)),
            .offset = offset};
  }

  /// yaml-cpp counts bytes as columns; a mark may lie after the end.
  std::size_t offset(const YAML::Mark& mark) const {
    const auto column = static_cast<std::size_t>(std::max(mark.column, 0));
    return std::min(line_begin(mark) + column, text_.size());
  }

  std::string_view text() const { return text_; }

 private:
  std::size_t line_begin(const YAML::Mark& mark) const {
    const auto line = static_cast<std::size_t>(std::max(mark.line, 0));
    return line < line_begins_.size() ? line_begins_[line] : text_.size();
  }

  Value value(const YAML::Node& node, const std::string& pointer, std::size_t depth) {
    const Position at = position(node.Mark());
    if (++values_ > max_values_)
      throw YamlFault{"aliases expand to more than " + std::to_string(max_values_) + " values", at};
    switch (node.Type()) {
      case YAML::NodeType::Map:
        mark_(pointer, {at, at}, false);
        enter(node, "map", depth, at);
        return object(node, pointer, depth);
      case YAML::NodeType::Sequence:
        mark_(pointer, {at, at}, false);
        enter(node, "seq", depth, at);
        return array(node, pointer, depth);
      case YAML::NodeType::Scalar:
        mark_(pointer, scalar_span(node, at), false);
        return scalar(node, at);
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        break;
    }
    mark_(pointer, {at, at}, false);
    return {};
  }

  /// Aliases can make deep nesting that the text does not show.
  void enter(const YAML::Node& node, std::string_view kind, std::size_t depth,
             const Position& at) const {
    if (depth >= limits_.max_depth)
      throw YamlFault{too_deep(limits_), at};
    if (const auto wrong = yaml::collection_fault(node.Tag(), kind))
      throw YamlFault{*wrong, at};
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
      const std::string inside = pointer + "/" + json::pointer_token(name);
      if (!seen.insert(name).second)
        throw YamlFault{"the key " + printable(json::quote(name), 100) + " appears twice", at,
                        inside};
      mark_(inside, scalar_span(member.first, at), true);
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
    if (const auto bad = bad_utf8(text))
      throw YamlFault{"this escape is not a character", at};
    const auto meant = yaml::scalar(text, node.Tag());
    if (!meant)
      throw YamlFault{meant.error(), at};
    return {**meant, *pool_};
  }

  /// The name of a member. For the keys `~` and `null` yaml-cpp keeps no text, so this function
  /// reads their spelling from the file.
  std::string key(const YAML::Node& node, const Position& at) const {
    if (node.IsScalar()) {
      const bool plain = node.Tag() == "?" || node.Tag().empty();
      if (plain && node.Scalar() == "<<")
        throw YamlFault{"merge keys (<<) are not part of YAML 1.2", at};
      if (const auto bad = bad_utf8(node.Scalar()))
        throw YamlFault{"this escape is not a character", at};
      // Keys are used as written, but a wrong tag is still an error.
      if (!plain)
        if (const auto meant = yaml::scalar(node.Scalar(), node.Tag()); !meant)
          throw YamlFault{meant.error(), at};
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

  /// The span of a scalar without its anchor and tag. `scalar_end` has the rules for its end.
  Span scalar_span(const YAML::Node& node, Position at) const {
    std::string_view rest = text_.substr(at.offset);
    while (rest.starts_with('&') || rest.starts_with('!')) {
      const std::size_t word = std::min(rest.find_first_of(" \t\r\n"), rest.size());
      const std::size_t next = std::min(rest.find_first_not_of(" \t", word), rest.size());
      if (next == rest.size() || rest[next] == '\r' || rest[next] == '\n')
        break;  // it is on a later line
      at.column += utf8_count(rest.substr(0, next));
      at.offset += next;
      rest.remove_prefix(next);
    }
    return {at, scalar_end(node, at)};
  }

  /// The end of a scalar with its quotes. If the file spells the scalar otherwise (with escapes),
  /// the end of the line.
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

/// Thrown when the text is nested too deeply. yaml-cpp has a limit too, but reports it as a bad
/// file.
struct TooDeep {
  YAML::Mark at;
};

/// Counts the nodes before yaml-cpp takes memory for them, and finds faults that yaml-cpp accepts.
class Counter : public YAML::EventHandler {
 public:
  Counter(const LoadLimits& limits, const Builder& builder) : limits_(limits), builder_(builder) {}
  // The names are yaml-cpp's.
  // NOLINTBEGIN(readability-identifier-naming)
  void OnDocumentStart(const YAML::Mark& mark) override { document_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    one_more(mark);
    place(mark, true);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    one_more(mark);
    place(mark, false);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    one_more(mark);
    place(mark, false);
    const std::string_view text = builder_.text();
    if (tag == "?" && value == "-")
      throw YamlFault{"a '-' alone is not a value; put it in quotes", builder_.position(mark)};
    if (tag == "?")
      return;
    if (auto fault = yaml::quotation_fault(text, yaml::content_begin(text, builder_.offset(mark))))
      throw YamlFault{std::move(fault->message), builder_.position(fault->offset)};
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value style) override {
    one_deeper(mark, {.flow = style == YAML::EmitterStyle::Flow});
  }
  void OnSequenceEnd() override { levels_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value style) override {
    one_deeper(mark, {.map = true, .flow = style == YAML::EmitterStyle::Flow});
  }
  void OnMapEnd() override { levels_.pop_back(); }
  // NOLINTEND(readability-identifier-naming)
  /// Where the last document begins.
  const YAML::Mark& document() const { return document_; }

 private:
  /// A map or a sequence that is still open.
  struct Level {
    bool map = false;
    bool flow = false;    ///< in brackets
    bool valued = false;  ///< for a map: the key was seen, the value comes next
    int key = 0;          ///< the place of the key; at the end of a text only `pos` of a mark is
                          ///< right
  };

  void one_more(const YAML::Mark& mark) {
    if (++count_ > limits_.max_yaml_nodes)
      throw YAML::ParserException(
          mark, "more than " + std::to_string(limits_.max_yaml_nodes) + " values");
  }
  void one_deeper(const YAML::Mark& mark, Level level) {
    one_more(mark);
    place(mark, false);
    levels_.push_back(level);
    if (levels_.size() > limits_.max_depth)
      throw TooDeep{mark};
  }

  /// Notes a node as the next item, key or value of the open level.
  void place(const YAML::Mark& mark, bool null) {
    if (levels_.empty())
      return;
    Level& in = levels_.back();
    if (in.map && !in.valued) {
      in.key = mark.pos;
    } else if (null && in.map && !in.flow && mark.pos == in.key) {
      // At the end of a text, yaml-cpp accepts a key without its colon. The empty value then has
      // the place of the key.
      throw YamlFault{"a ':' is missing after this key", builder_.position(mark)};
    } else if (null && !in.map && in.flow &&
               builder_.text().substr(builder_.offset(mark)).starts_with(',')) {
      throw YamlFault{"a value is missing before this ','", builder_.position(mark)};
    }
    in.valued = in.map && !in.valued;
  }

  const LoadLimits& limits_;
  const Builder& builder_;
  std::size_t count_ = 0;
  std::vector<Level> levels_;
  YAML::Mark document_;
};

/// The place where a line gets too much punctuation for yaml-cpp's scanner; nothing when no line
/// does. The scanner keeps a whole line, because a later colon may make the line a key.
std::optional<std::size_t> crowded(std::string_view text) {
  constexpr std::string_view kMarks = "[{,:-?*\n";
  constexpr std::size_t kMostInLine = 10'000;
  std::size_t in_line = 0;
  for (std::size_t at = text.find_first_of(kMarks); at != std::string_view::npos;
       at = text.find_first_of(kMarks, at + 1)) {
    in_line = text[at] == '\n' ? 0 : in_line + 1;
    if (in_line > kMostInLine)
      return at;
  }
  return std::nullopt;
}

/// Checks the text before yaml-cpp takes memory for its nodes. Throws when the text is too large or
/// wrong. Returns the place of a second document, if there is one.
std::optional<YAML::Mark> look_through(std::string_view text, const LoadLimits& limits,
                                       const Builder& builder) {
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  Counter counter(limits, builder);
  // Only two calls: at a place where no document can begin (a comma), yaml-cpp finds empty
  // documents without end.
  if (!parser.HandleNextDocument(counter) || !parser.HandleNextDocument(counter))
    return std::nullopt;
  return counter.document();
}

/// Throws TooDeep if the text before the crowded place is nested too deeply, which is the usual
/// cause.
void check_until(std::string_view text, const LoadLimits& limits, const Builder& builder) {
  try {
    look_through(text, limits, builder);
  } catch (const YAML::Exception&) {
    // The text was cut here, so this error tells nothing about the file.
  } catch (const YamlFault&) {
    // This error tells nothing either.
  }
}

std::string unexpected(std::string_view rest) {
  constexpr std::string_view kInside = ",]}:";
  return !rest.empty() && kInside.find(rest.front()) != std::string_view::npos
             ? std::string("an unexpected '") + rest.front() + "'"
             : "more than one YAML document in a file";
}

LoadFailure failure(YamlFault fault) {
  Finding finding{.rule = "json",
                  .pointer = std::move(fault.pointer),
                  .message = std::move(fault.message),
                  .span = {fault.at, fault.at}};
  return {.findings = {std::move(finding)}, .incomplete = false};
}

bool indented_by_tab(std::string_view text, const Position& at) {
  const std::size_t end = text.substr(0, at.offset).rfind('\n');
  const std::string_view line = text.substr(end == std::string_view::npos ? 0 : end + 1);
  return line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string_view::npos;
}

/// Explains an error of yaml-cpp. For a bad escape, yaml-cpp gives only its number and the place
/// after it.
YamlFault fault_of(const YAML::Exception& error, std::string_view text, const Builder& builder) {
  const Position at = builder.position(error.mark);
  constexpr std::size_t kEscape = 6;  // \uXXXX
  if (error.msg == "unknown token" && text.substr(at.offset).starts_with('?'))
    return {"within brackets, a text with a '?' must be in quotes", at};
  if (indented_by_tab(text, at))
    return {"this line begins with a tab; YAML must be indented with spaces", at};
  if (error.msg == "illegal map value")
    return {"a key cannot stand here; perhaps the line before has no `:` behind its key", at};
  if (!error.msg.starts_with("invalid unicode"))
    return {printable(error.msg, 200), at};
  if (at.offset < kEscape || text.substr(at.offset - kEscape, 2) != "\\u")
    return {"this escape is not a character", at};
  const Position begin{at.line, at.column - kEscape, at.offset - kEscape};
  return {half_surrogate(text.substr(begin.offset, kEscape)) +
              "; YAML has the character itself, or \\U and its eight digits",
          begin};
}

Json read(std::string_view text, const LoadLimits& limits, Builder& builder) {
  if (auto fault = yaml::directive_fault(text))
    throw YamlFault{std::move(fault->message), builder.position(fault->offset)};
  if (const auto at = crowded(text)) {
    check_until(text.substr(0, *at), limits, builder);
    throw YamlFault{"a line with too much punctuation", builder.position(*at)};
  }
  if (const auto more = look_through(text, limits, builder)) {
    const Position at = builder.position(*more);
    throw YamlFault{unexpected(text.substr(at.offset)), at};
  }
  return builder.build(YAML::Load(std::string(text)));
}

}  // namespace

tl::expected<Json, LoadFailure> parse_yaml(std::string_view text, const LoadLimits& limits,
                                           const YamlMark& mark) {
  Builder builder(text, limits, mark);
  try {
    return read(text, limits, builder);
  } catch (const YamlFault& fault) {
    return tl::unexpected(failure(fault));
  } catch (const TooDeep& deep) {
    return tl::unexpected(failure({too_deep(limits), builder.position(deep.at)}));
  } catch (const YAML::Exception& error) {
    return tl::unexpected(failure(fault_of(error, text, builder)));
  }
}

}  // namespace baton
