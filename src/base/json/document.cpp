// SPDX-License-Identifier: Apache-2.0
#include "base/json/document.h"

#include <algorithm>
#include <map>

#include "base/json/parse.h"
#include "base/json/position_finder.h"
#include "base/json/yaml.h"
#include "base/text.h"
#include "base/utf8.h"

namespace baton {
namespace {

constexpr std::size_t kMaxLineFindings = 100;
// A bad line costs more memory than its bytes. A file with so many bad lines is not JSON Lines.
constexpr std::size_t kMaxBadLines = 100'000;

/// Converts offsets to positions. Ask in ascending order: a smaller offset starts again at the
/// beginning of the text.
class Positions {
 public:
  explicit Positions(std::string_view text) : text_(text) {}

  Position at(std::size_t offset) {
    offset = std::min(offset, text_.size());
    if (offset < last_.offset)
      last_ = {};
    const std::string_view before = text_.substr(last_.offset, offset - last_.offset);
    const std::size_t newline = before.rfind('\n');
    if (newline == std::string_view::npos) {
      last_.column += characters(before, last_.offset);
    } else {
      last_.line += static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
      last_.column = 1 + utf8_count(before.substr(newline + 1));
    }
    last_.offset = offset;
    return last_;
  }

  Span span(std::size_t begin, std::size_t end) {
    const Position first = at(begin);
    return {.begin = first, .end = at(end)};
  }

  /// Fills in the lines and columns of spans, in ascending order.
  void complete(std::vector<Span>& spans) {
    std::vector<Position*> places;
    for (Span& span : spans) {
      places.push_back(&span.begin);
      places.push_back(&span.end);
    }
    std::sort(places.begin(), places.end(),
              [](const auto* one, const auto* other) { return one->offset < other->offset; });
    for (Position* place : places)
      *place = at(place->offset);
  }

 private:
  /// A byte order mark does not count as a column.
  static std::size_t characters(std::string_view part, std::size_t offset) {
    if (offset == 0 && part.starts_with(kByteOrderMark))
      part.remove_prefix(kByteOrderMark.size());
    return utf8_count(part);
  }

  std::string_view text_;
  Position last_;
};

Finding finding_of(const ParseFault& fault, Positions& positions, Severity severity) {
  Finding finding{.severity = severity,
                  .rule = "json",
                  .pointer = fault.pointer,
                  .message = fault.message,
                  .found = fault.found,
                  .expected = fault.expected};
  finding.span = positions.span(fault.begin, fault.end);
  return finding;
}

LoadFailure failure_of(const ParseFault& fault, std::string_view text) {
  Positions positions(text);
  return {.findings = {finding_of(fault, positions, Severity::error)},
          .incomplete = fault.incomplete,
          .definite = fault.definite};
}

Finding byte_order_mark_warning() {
  return {.severity = Severity::warning,
          .rule = "json",
          .message = "the file begins with a byte order mark"};
}

}  // namespace

LoadLimits limits_up_to(std::size_t max_bytes, LoadLimits limits) {
  if (max_bytes > limits.max_bytes) {
    const std::size_t times = 1 + max_bytes / limits.max_bytes;
    limits.max_memory_bytes *= times;
    limits.max_yaml_bytes *= times;
    limits.max_object_members *= times;
    limits.max_yaml_nodes *= times;
  }
  limits.max_bytes = max_bytes;
  return limits;
}

bool has_error(const Findings& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.severity == Severity::error; });
}

/// YAML: the places of values and names by pointer. JSON Lines: where each item of the root is.
struct Document::Marks {
  struct Spans {
    Span value;
    Span key;
  };
  std::map<std::string, Spans, std::less<>> by_pointer;
  std::vector<scan::Extent> items;

  std::vector<Span> of_yaml(const std::vector<Wanted>& wanted) const {
    std::vector<Span> out(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (const auto found = by_pointer.find(wanted[i].pointer); found != by_pointer.end())
        out[i] = wanted[i].key ? found->second.key : found->second.value;
    return out;
  }

  /// For JSON Lines: the offset of the record that contains the target of a pointer.
  std::optional<std::size_t> record(const Value& root, const scan::Path& path) const {
    const Value* const item =
        path.empty() ? nullptr : json::at(root, "/" + json::pointer_token(path.front()));
    if (item == nullptr)
      return std::nullopt;
    return items[static_cast<std::size_t>(item - root.Begin())].begin;
  }
};

Document::Document() : marks_(std::make_unique<Marks>()) {}
Document::~Document() = default;

Span Document::locate(std::string_view pointer, bool key) const {
  return locate({{pointer, key}}).front();
}

/// Finds the wanted places inside the value at `begin`. The first `skipped` tokens of each pointer
/// lead to this value.
void Document::locate_from(std::size_t begin, const std::vector<std::size_t>& which,
                           std::size_t skipped, const std::vector<Wanted>& wanted,
                           std::vector<Span>& out) const {
  std::vector<scan::Path> paths;
  for (const std::size_t index : which) {
    scan::Path path = *json::pointer_tokens(wanted[index].pointer);
    path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(skipped));
    paths.push_back(std::move(path));
  }
  const auto places = scan::find_all(text_, begin, paths);
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (!places[i])
      continue;
    const bool key = wanted[which[i]].key && places[i]->name;
    const scan::Extent extent = key ? *places[i]->name : places[i]->value;
    out[which[i]].begin.offset = extent.begin;
    out[which[i]].end.offset = extent.end;
  }
}

std::vector<Span> Document::locate(const std::vector<Wanted>& wanted) const {
  std::vector<Span> out(wanted.size());
  if (format_ == Format::text)
    return out;
  if (format_ == Format::yaml)
    return marks_->of_yaml(wanted);
  const std::size_t from = text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  // JSON is one value; JSON Lines has one value for each item of the root.
  std::map<std::size_t, std::vector<std::size_t>> by_value;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto tokens = json::pointer_tokens(wanted[i].pointer);
    if (!tokens)
      continue;
    const auto begin =
        format_ == Format::json ? std::optional(from) : marks_->record(*root_, *tokens);
    if (begin) {
      by_value[*begin].push_back(i);
    } else if (tokens->empty()) {
      out[i].begin.offset = from;
      out[i].end.offset = text_.size();
    }
  }
  for (const auto& [begin, which] : by_value)
    locate_from(begin, which, format_ == Format::json ? 0 : 1, wanted, out);
  Positions(text_).complete(out);
  return out;
}

void locate(Findings& findings, const Document& document) {
  std::vector<Document::Wanted> wanted;
  for (const Finding& finding : findings)
    wanted.push_back({finding.pointer, false});
  const std::vector<Span> spans = document.locate(wanted);
  for (std::size_t i = 0; i < findings.size(); ++i)
    findings[i].span = spans[i];
}

class DocumentLoader {
 public:
  DocumentLoader(std::string text, Format format, const LoadLimits& limits)
      : limits_(limits), left_(limits), document_(new Document) {
    document_->text_ = std::move(text);
    document_->format_ = format;
  }

  tl::expected<std::shared_ptr<const Document>, LoadFailure> load() {
    const std::string& text = document_->text_;
    if (text.size() > limits_.max_bytes) {
      ParseFault fault{.code = Errc::too_large};
      fault.message = std::to_string(text.size()) + " bytes; at most " +
                      std::to_string(limits_.max_bytes) + " are read";
      return tl::unexpected(failure_of(fault, text));
    }
    document_->digest_ = digest_of(text);
    if (auto failure = parse())
      return tl::unexpected(std::move(*failure));
    return std::shared_ptr<const Document>(std::move(document_));
  }

 private:
  std::optional<LoadFailure> parse() {
    if (document_->format_ != Format::text && document_->text_.starts_with(kByteOrderMark))
      document_->warnings_.push_back(byte_order_mark_warning());
    switch (document_->format_) {
      case Format::json:
        return parse_one();
      case Format::jsonl:
        return parse_lines();
      case Format::yaml:
        return parse_as_yaml();
      case Format::text:
        break;
    }
    return std::nullopt;
  }

  std::optional<LoadFailure> parse_one() {
    auto root = parse_whole(document_->text_, limits_);
    if (!root)
      return failure_of(root.error(), document_->text_);
    document_->root_ = std::move(root->value);
    Positions positions(document_->text_);
    doubt(root->doubtful_numbers, 0, positions);
    return std::nullopt;
  }

  void doubt(const std::vector<scan::Extent>& numbers, std::size_t from, Positions& positions) {
    for (const scan::Extent& number : numbers)
      doubt(positions.span(from + number.begin, from + number.end));
  }

  void doubt(const Span& number) {
    if (document_->warnings_.size() >= kMaxLineFindings)
      return;
    constexpr std::size_t kShown = 60;
    const std::size_t begin = number.begin.offset;
    const std::string text =
        printable(document_->text_.substr(begin, number.end.offset - begin), kShown);
    document_->warnings_.push_back(
        {.severity = Severity::warning,
         .rule = "json",
         .message = "the integer " + text + " does not fit into 64 bits and loses digits",
         .found = text,
         .span = number});
  }

  std::optional<LoadFailure> parse_as_yaml() {
    if (document_->text_.size() > limits_.max_yaml_bytes) {
      ParseFault fault{.code = Errc::too_large};
      fault.message = std::to_string(document_->text_.size()) + " bytes; of YAML at most " +
                      std::to_string(limits_.max_yaml_bytes) + " are read";
      return failure_of(fault, document_->text_);
    }
    if (const auto bad = bad_utf8(document_->text_))
      return failure_of(utf8_fault(document_->text_, *bad), document_->text_);
    auto& marks = document_->marks_->by_pointer;
    auto root = parse_yaml(document_->text_, limits_,
                           [&](const std::string& pointer, const Span& span, bool key) {
                             (key ? marks[pointer].key : marks[pointer].value) = span;
                           });
    if (!root)
      return std::move(root.error());
    document_->root_ = std::move(*root);
    if (limits_.doubt_numbers)
      warn_of_yaml_numbers();
    return std::nullopt;
  }

  /// Warns of integers that became doubles.
  void warn_of_yaml_numbers() {
    for (const auto& [pointer, spans] : document_->marks_->by_pointer) {
      const Value* const value = json::at(*document_->root_, pointer);
      const auto [begin, end] = std::pair(spans.value.begin.offset, spans.value.end.offset);
      const std::string_view text = std::string_view(document_->text_).substr(begin, end - begin);
      if (value != nullptr && value->IsDouble() &&
          text.find_first_not_of("+-0123456789") == std::string_view::npos)
        doubt(spans.value);
    }
  }

  std::optional<LoadFailure> parse_lines() {
    const std::string_view text = document_->text_;
    left_.max_memory_bytes -= std::min(left_.max_memory_bytes, text.size());
    Positions positions(text);
    std::size_t begin = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    while (begin < text.size()) {
      const std::size_t newline = std::min(text.find('\n', begin), text.size());
      const std::size_t records = records_.size();
      if (auto fault = parse_line(begin, newline, positions)) {
        if (fault->too_much_memory) {
          fault->message = "the values up to here take too much memory";
          return failure_of(*fault, text);
        }
        if (++bad_lines_ > kMaxBadLines) {
          fault->message = "more than " + std::to_string(kMaxBadLines) +
                           " lines cannot be read; is this JSON Lines?";
          return failure_of(*fault, text);
        }
        skip_line(*std::move(fault), newline == text.size(), records_.size() > records, positions);
      } else if (records_.size() > records) {
        document_->end_passed_over_.reset();
      }
      begin = newline + 1;
    }
    Value root(rapidjson::kArrayType);
    root.Reserve(static_cast<rapidjson::SizeType>(records_.size()), *pool_);
    for (Value& record : records_)
      root.PushBack(record, *pool_);
    document_->root_ = Json(std::move(pool_), std::move(root));
    return std::nullopt;
  }

  /// Skips a line and warns about it; only the first lines get a warning. The values before the
  /// fault in this line stay in the document.
  void skip_line(ParseFault fault, bool last, bool behind_values, Positions& positions) {
    // A skipped line is no record, so no pointer leads to it.
    fault.pointer.clear();
    const std::string what =
        std::string(behind_values ? "the rest of the " : "the ") + (last ? "last line" : "line");
    fault.message = fault.incomplete ? what + " is cut off; baton skips it"
                                     : what + " is skipped: " + fault.message;
    Finding finding = finding_of(fault, positions, Severity::warning);
    document_->end_passed_over_ = finding;
    if (bad_lines_ == kMaxLineFindings)
      finding.message += "; further ones are not reported";
    if (bad_lines_ <= kMaxLineFindings)
      document_->warnings_.push_back(std::move(finding));
  }

  /// A writer that crashed may leave two records in one line, so a line may hold several values.
  std::optional<ParseFault> parse_line(std::size_t begin, std::size_t end, Positions& positions) {
    const std::string_view line = std::string_view(document_->text_).substr(begin, end - begin);
    const auto shifted = [&](ParseFault fault) {
      fault.begin += begin;
      fault.end += begin;
      return fault;
    };
    if (const auto bad = bad_utf8(line))
      return shifted(utf8_fault(line, *bad));
    std::size_t at = scan::skip_blanks(line, 0);
    while (at < line.size()) {
      auto parsed = parse_value(line, at, left_);
      if (!parsed)
        return shifted(std::move(parsed.error()));
      // The record is held three times: while it is collected, at the end, and in the text.
      constexpr std::size_t kRecordBytes = 3 * sizeof(Value);
      left_.max_memory_bytes -= std::min(left_.max_memory_bytes, parsed->bytes + kRecordBytes);
      records_.emplace_back(*parsed->value, *pool_);
      doubt(parsed->doubtful_numbers, begin, positions);
      document_->marks_->items.push_back({.begin = begin + at, .end = begin + parsed->end});
      at = scan::skip_blanks(line, parsed->end);
    }
    return std::nullopt;
  }

  const LoadLimits& limits_;
  // For JSON Lines: the limits for the remaining lines, and the values so far.
  LoadLimits left_;
  std::unique_ptr<JsonPool> pool_ = std::make_unique<JsonPool>(64U << 10U);
  std::vector<Value> records_;
  std::size_t bad_lines_ = 0;
  std::shared_ptr<Document> document_;
};

tl::expected<std::shared_ptr<const Document>, LoadFailure> load_document(std::string text,
                                                                         Format format,
                                                                         const LoadLimits& limits) {
  return DocumentLoader(std::move(text), format, limits).load();
}

Result<Json> parse_json(std::string_view text, const LoadLimits& limits) {
  if (text.size() > limits.max_bytes)
    return fail(Errc::too_large, std::to_string(text.size()) + " bytes; at most " +
                                     std::to_string(limits.max_bytes) + " are read");
  auto root = parse_whole(text, limits);
  if (root)
    return std::move(root->value);
  Positions positions(text);
  const Position at = positions.at(root.error().begin);
  return fail(root.error().code, root.error().message + " (line " + std::to_string(at.line) +
                                     ", column " + std::to_string(at.column) + ")");
}

}  // namespace baton
