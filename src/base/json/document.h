// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loads the text of one file (JSON, JSON Lines or YAML) and keeps the text, so that each finding
// has a line and column. Limits protect against hostile files. All other code reads files through
// `load_document`.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/json/json.h"
#include "base/pinned.h"
#include "base/result.h"

namespace baton {

/// The format of a file. `jsonl`: one JSON document per line. `yaml`: read as JSON values (string
/// keys, YAML 1.2 core scalars). `text`: not parsed.
enum class Format { json, jsonl, yaml, text };

struct LoadLimits {
  std::size_t max_bytes = 16U << 20U;
  std::size_t max_depth = 128;
  std::size_t max_number_chars = 1000;
  std::size_t max_object_members = 10'000;
  // YAML needs a hundred times the time and memory of JSON, above all for quoted text.
  std::size_t max_yaml_bytes = 512U << 10U;
  std::size_t max_yaml_nodes = 50'000;
  /// The memory that text and values may take together while they are read.
  std::size_t max_memory_bytes = 56U << 20U;
  bool doubt_numbers = false;  ///< warn of integers beyond 64 bits, which lose digits
  bool operator==(const LoadLimits&) const = default;
};
/// The limits for files of this size. A larger file takes more memory and time, so the other limits
/// grow with it.
LoadLimits limits_up_to(std::size_t max_bytes, LoadLimits limits = {});

/// Line and column start at 1; columns count code points. `offset` is in bytes from the start of
/// the file.
struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
  std::size_t offset = 0;
  bool operator==(const Position&) const = default;
};
struct Span {
  Position begin;
  Position end;  ///< just after the last character
  bool operator==(const Span&) const = default;
};

enum class Severity { error, warning };

/// A fault or warning at a place in a document.
struct Finding {
  Severity severity = Severity::error;
  std::string rule;            ///< `json`, `schema/<keyword>`, `<dialect>/<ID>`
  std::string pointer;         ///< JSON pointer into the document, "" is the root
  std::string schema_pointer;  ///< empty unless it comes from a schema
  std::string message;         ///< a clause for people; values in it are shortened and printable
  std::string found;           ///< the value found, shortened and printable
  std::string expected;        ///< what is allowed
  std::string suggestion;      ///< a similar allowed word for "did you mean"; "" if none
  Span span;                   ///< place in the text; filled in by `locate` or the parser
  bool operator==(const Finding&) const = default;
};
using Findings = std::vector<Finding>;

bool has_error(const Findings& findings);
class Document;
/// Fills in the place of each finding from its pointer.
void locate(Findings& findings, const Document& document);

/// The text of one file and its value. Immutable; shared as `shared_ptr<const Document>`. For
/// `jsonl`, `root()` is an array of the values of the lines. For `text` it is null.
class Document : private Pinned {
 public:
  ~Document();

  const std::string& text() const { return text_; }
  const Value& root() const { return *root_; }
  Format format() const { return format_; }
  const Digest& digest() const { return digest_; }
  /// Warnings from reading: a byte order mark, an incomplete last line of JSON Lines.
  const Findings& warnings() const { return warnings_; }
  /// For JSON Lines: what is wrong with the last non-empty line, if it could not be read. That line
  /// is skipped, so the last value is that of the line before.
  const std::optional<Finding>& end_passed_over() const { return end_passed_over_; }

  /// The place of a value, or with `key` of the name of a member. Walks through the text, so call
  /// it only for findings.
  Span locate(std::string_view pointer, bool key = false) const;
  /// The places of many values in one walk.
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
  /// Places for texts that cannot be walked as JSON (YAML, JSON Lines).
  std::unique_ptr<Marks> marks_;
};

/// Why a text could not be loaded: one finding (rule `json`, with its place), or several for JSON
/// Lines.
struct LoadFailure {
  Findings findings;
  /// The text ends in the middle of a value, so a writer may still be writing it.
  bool incomplete = false;
  /// More text would not repair it, and it does not look like a write in progress. Text after the
  /// end (a longer text is being overwritten) and NUL (space was allocated first) do look like one.
  bool definite = false;
};

/// Loads a text. No input can crash or stall it: the parser is iterative, and numbers go through
/// std::from_chars. It checks NUL and UTF-8 first, refuses duplicate keys and enforces all limits.
tl::expected<std::shared_ptr<const Document>, LoadFailure> load_document(
    std::string text, Format format, const LoadLimits& limits = {});

/// For our own values and files: returns only the value.
Result<Json> parse_json(std::string_view text, const LoadLimits& limits = {});

}  // namespace baton
