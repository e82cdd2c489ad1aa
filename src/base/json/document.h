#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/json/json.h"
#include "base/result.h"

namespace baton {

/// How the text of a file is read. `jsonl`: one JSON document a line. `yaml`: as JSON values
/// (string keys, YAML 1.2 core scalars). `text`: not looked into.
enum class Format { json, jsonl, yaml, text };

struct LoadLimits {
  std::size_t max_bytes = 16U << 20U;
  std::size_t max_depth = 128;
  std::size_t max_number_chars = 1000;
  std::size_t max_object_members = 10'000;
  // Reading YAML takes a hundred times the time and the memory, most of all what is quoted.
  std::size_t max_yaml_bytes = 512U << 10U;
  std::size_t max_yaml_nodes = 50'000;
  /// What the text and its values may take together while it is read.
  std::size_t max_memory_bytes = 56U << 20U;
  bool doubt_numbers = false;  ///< warn of integers beyond 64 bits, which lose digits
  bool operator==(const LoadLimits&) const = default;
};

/// 1-based; columns count code points. `offset` is in bytes from the start of the file.
struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
  std::size_t offset = 0;
  bool operator==(const Position&) const = default;
};
struct Span {
  Position begin;
  Position end;  ///< just behind the last character
  bool operator==(const Span&) const = default;
};

enum class Severity { error, warning };

/// Something that is wrong with a document, at a place, with what would be right.
struct Finding {
  Severity severity = Severity::error;
  std::string rule;            ///< `json`, `schema/<keyword>`, `<dialect>/<ID>`
  std::string pointer;         ///< JSON pointer into the document, "" is the root
  std::string schema_pointer;  ///< empty unless a schema says so
  std::string message;         ///< a clause for people; the value in it is shortened and printable
  std::string found;           ///< the value found, shortened and printable
  std::string expected;        ///< what is allowed
  std::string suggestion;      ///< "did you mean", empty when nothing is near
  Span span;                   ///< where in the text; filled in by `locate`, or by the parser
  bool operator==(const Finding&) const = default;
};
using Findings = std::vector<Finding>;

bool has_error(const Findings& findings);
class Document;
/// Gives each finding the place of its pointer.
void locate(Findings& findings, const Document& document);

/// The text of one file and what it means. Immutable once loaded; shared as `shared_ptr<const
/// Document>`. For `jsonl`, `root()` is an array of the lines' values. For `text` it is null.
class Document {
 public:
  ~Document();
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  Document(Document&&) = delete;
  Document& operator=(Document&&) = delete;

  const std::string& text() const { return text_; }
  const Value& root() const { return *root_; }
  Format format() const { return format_; }
  const Digest& digest() const { return digest_; }
  /// What reading it already showed: a byte order mark, a torn last line of JSON Lines.
  const Findings& warnings() const { return warnings_; }
  /// Of JSON Lines: what is wrong with the last line that is not empty, if it could not be read. It
  /// is passed over, so that the line before it stands at the end of the values.
  const std::optional<Finding>& end_passed_over() const { return end_passed_over_; }

  /// The place of a value of this document, or of the name of one of its members (`key`: the place
  /// of the member's name instead of its value). Walks the text, so call it only for findings.
  Span locate(std::string_view pointer, bool key = false) const;
  /// The places of many, in one walk.
  struct Wanted {
    std::string_view pointer;
    bool key = false;
  };
  std::vector<Span> locate(const std::vector<Wanted>& wanted) const;

 private:
  friend class DocumentLoader;
  void locate_from(std::size_t begin, const std::vector<std::size_t>& which, std::size_t skipped,
                   const std::vector<Wanted>& wanted, std::vector<Span>& out) const;
  Document();
  std::string text_;
  Format format_ = Format::json;
  Digest digest_;
  Json root_;
  Findings warnings_;
  std::optional<Finding> end_passed_over_;
  struct Marks;
  std::unique_ptr<Marks> marks_;  ///< places where the text cannot be walked as JSON (YAML, lines)
};

/// Why a text could not be loaded: exactly one finding (rule `json`, with its place), or several
/// for JSON Lines.
struct LoadFailure {
  Findings findings;
  /// The text ends in the middle of a value: a writer may still be at it.
  bool incomplete = false;
  /// Wrong however it goes on, and no trace of a writer at work either: such are something behind
  /// the end (a longer text is being overwritten) and NUL (room was made before it is filled).
  bool definite = false;
};

/// Loads a text. No input can crash it or stall it: iterative parsing, numbers through
/// std::from_chars, NUL and UTF-8 checked first, duplicate keys refused, all limits enforced.
tl::expected<std::shared_ptr<const Document>, LoadFailure> load_document(
    std::string text, Format format, const LoadLimits& limits = {});

/// For values built by ourselves and files of our own: the parsed value only.
Result<Json> parse_json(std::string_view text, const LoadLimits& limits = {});

}  // namespace baton
