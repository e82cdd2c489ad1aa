#include "base/document.h"

#include <algorithm>
#include <map>

#include "base/parse.h"
#include "base/scan.h"
#include "base/text.h"
#include "base/utf8.h"
#include "base/yaml.h"

namespace baton {
namespace {

constexpr std::size_t kMaxLineFindings = 100;

/// Turns offsets into positions; cheapest when asked in ascending order.
class Positions {
 public:
  explicit Positions(std::string_view text) : text_(text) {}

  Position at(std::size_t offset) {
    offset = std::min(offset, text_.size());
    if (offset < line_begin_) {
      line_begin_ = 0;
      line_ = 1;
    }
    for (;;) {
      const std::size_t newline = text_.find('\n', line_begin_);
      if (newline >= offset)
        break;
      line_begin_ = newline + 1;
      ++line_;
    }
    std::string_view before = text_.substr(line_begin_, offset - line_begin_);
    if (line_begin_ == 0 && before.starts_with(kByteOrderMark))
      before.remove_prefix(kByteOrderMark.size());
    return {.line = line_, .column = 1 + utf8_count(before), .offset = offset};
  }

  Span span(std::size_t begin, std::size_t end) {
    const Position first = at(begin);
    return {.begin = first, .end = at(end)};
  }

 private:
  std::string_view text_;
  std::size_t line_begin_ = 0;
  std::size_t line_ = 1;
};

Finding finding_of(const ParseFault& fault, Positions& positions, Severity severity) {
  Finding finding{.severity = severity, .rule = "json", .message = fault.message};
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
};

Document::Document() : marks_(std::make_unique<Marks>()) {}
Document::~Document() = default;

Span Document::locate(std::string_view pointer, bool key) const {
  Positions positions(text_);
  if (format_ == Format::yaml) {
    const auto found = marks_->by_pointer.find(pointer);
    if (found == marks_->by_pointer.end())
      return {};
    return key ? found->second.key : found->second.value;
  }
  auto tokens = json::pointer_tokens(pointer);
  if (!tokens || format_ == Format::text)
    return {};
  std::size_t from = text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  std::span<const std::string> path = *tokens;
  if (format_ == Format::jsonl) {
    if (path.empty())
      return positions.span(from, text_.size());
    const Value* item = json::at(*root_, "/" + json::pointer_token(path.front()));
    if (item == nullptr)
      return {};
    from = marks_->items[static_cast<std::size_t>(item - root_->Begin())].begin;
    path = path.subspan(1);
  }
  const auto place = scan::find(text_, from, path);
  if (!place)
    return {};
  const scan::Extent extent = key && place->name ? *place->name : place->value;
  return positions.span(extent.begin, extent.end);
}

class DocumentLoader {
 public:
  DocumentLoader(std::string text, Format format, const LoadLimits& limits)
      : limits_(limits), document_(new Document) {
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
        parse_lines();
        return std::nullopt;
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
    document_->root_ = std::move(*root);
    return std::nullopt;
  }

  std::optional<LoadFailure> parse_as_yaml() {
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
    return std::nullopt;
  }

  void parse_lines() {
    const std::string_view text = document_->text_;
    document_->root_ = Json::array();
    Positions positions(text);
    std::size_t begin = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    while (begin < text.size()) {
      const std::size_t newline = std::min(text.find('\n', begin), text.size());
      if (auto fault = parse_line(begin, newline)) {
        if (newline == text.size())
          fault->message = "the last line is cut off: " + fault->message;
        if (document_->warnings_.size() < kMaxLineFindings)
          document_->warnings_.push_back(finding_of(*fault, positions, Severity::warning));
      }
      begin = newline + 1;
    }
  }

  /// Writers that crash leave lines that were glued together, so one line may hold several values.
  std::optional<ParseFault> parse_line(std::size_t begin, std::size_t end) {
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
      auto parsed = parse_value(line, at, limits_);
      if (!parsed)
        return shifted(std::move(parsed.error()));
      document_->root_.push(parsed->value);
      document_->marks_->items.push_back({.begin = begin + at, .end = begin + parsed->end});
      at = scan::skip_blanks(line, parsed->end);
    }
    return std::nullopt;
  }

  const LoadLimits& limits_;
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
    return std::move(*root);
  Positions positions(text);
  const Position at = positions.at(root.error().begin);
  return fail(root.error().code, root.error().message + " (line " + std::to_string(at.line) +
                                     ", column " + std::to_string(at.column) + ")");
}

}  // namespace baton
