// SPDX-License-Identifier: Apache-2.0
#include "io/system/git.h"

#include <charconv>
#include <optional>
#include <utility>

#include "base/text.h"
#include "io/system/command.h"

namespace baton {
namespace {

constexpr std::size_t kMaxList = 256U << 20U;

/// git has no transport, fetches no missing object, asks nobody and writes no index. The settings
/// of the system and of the user stay in force: they say which repositories are trusted.
const std::vector<std::string>& quiet_settings() {
  static const std::vector<std::string> settings = {"GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1",
                                                    "GIT_OPTIONAL_LOCKS=0",
                                                    "GIT_TERMINAL_PROMPT=0"};
  return settings;
}

/// Runs git so that it starts no program which the repository names. An exit status other than 0 is
/// an error with the message of git. `words` must not have git compare the work tree: that would
/// start the repository's filters.
Result<std::string> git(std::vector<std::string> words, std::string_view input,
                        std::size_t max_bytes) {
  words.insert(words.begin(), {"git", "--no-pager", "-c", "core.fsmonitor=false"});
  auto done = run_command(words, input, max_bytes, quiet_settings());
  if (!done)
    return pass_on(done);
  if (done->exit == 0)
    return std::move(done->output);
  std::string why = printable(done->errors.substr(0, done->errors.find('\n')), 300);
  if (why.empty())
    why = "ended with " + std::to_string(done->exit);
  return fail(Errc::io, "git: " + why);
}

/// As `git`, and without hooks: `git diff` may run the hook `post-index-change`.
Result<std::string> git_without_hooks(std::vector<std::string> words, std::string_view input,
                                      std::size_t max_bytes) {
  words.insert(words.begin(), {"-c", "core.hooksPath=/dev/null"});
  return git(std::move(words), input, max_bytes);
}

/// Cuts off and returns the text before the next `end`; nothing when there is no `end`.
std::optional<std::string_view> cut(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  if (at == std::string_view::npos)
    return std::nullopt;
  const std::string_view piece = text.substr(0, at);
  text.remove_prefix(at + 1);
  return piece;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += line + "\n";
  return text;
}

/// The size of the blob in a line of `cat-file`; nothing for `missing` and other types.
std::optional<std::size_t> blob_size(std::string_view line) {
  const auto words = split(line, ' ');
  std::size_t size = 0;
  if (words.size() != 3 || words[1] != "blob")
    return std::nullopt;
  const char* const end = words[2].data() + words[2].size();
  const auto read = std::from_chars(words[2].data(), end, size);
  return read.ec == std::errc() && read.ptr == end ? std::optional(size) : std::nullopt;
}

tl::unexpected<Error> unexpected_answer() {
  return fail(Errc::io, "git gave an answer that cannot be read");
}

/// Blobs that are read by one call of git.
class BlobBatch {
 public:
  explicit BlobBatch(const TakeBlob& take) : take_(take) {}

  void add(std::size_t place, const std::string& id, std::size_t size) {
    ids_.push_back(id);
    places_.push_back(place);
    bytes_ += size;
  }

  bool full() const {
    constexpr std::size_t kAtOnce = 32U << 20U;
    return bytes_ >= kAtOnce;
  }

  /// Hands over all blobs and empties the batch.
  Result<void> read() {
    constexpr std::size_t kLine = 256;
    if (ids_.empty())
      return {};
    auto all =
        git_without_hooks({"cat-file", "--batch"}, joined(ids_), bytes_ + kLine * ids_.size());
    if (!all)
      return pass_on(all);
    std::string_view rest = *all;
    for (const std::size_t place : places_) {
      const auto head = cut(rest, '\n');
      const auto size = head ? blob_size(*head) : std::nullopt;
      if (!size || rest.size() < *size + 1)
        return unexpected_answer();
      take_(place, std::string(rest.substr(0, *size)));
      rest.remove_prefix(*size + 1);
    }
    ids_.clear();
    places_.clear();
    bytes_ = 0;
    return {};
  }

 private:
  const TakeBlob& take_;
  std::vector<std::string> ids_;
  std::vector<std::size_t> places_;
  std::size_t bytes_ = 0;
};

}  // namespace

Result<std::vector<StagedFile>> parse_staged(std::string_view raw) {
  constexpr std::string_view kLink = "120000";
  constexpr std::string_view kRepository = "160000";
  std::vector<StagedFile> files;
  while (!raw.empty()) {
    // `:100644 100755 <blob> <blob> M`, NUL, path, NUL
    const std::string_view head = cut(raw, '\0').value_or("");
    const std::string_view path = cut(raw, '\0').value_or("");
    const auto words = split(head, ' ');
    if (path.empty() || words.size() != 5 || !words[0].starts_with(':'))
      return fail(Errc::parse, "git gave a list that cannot be read");
    const bool merged = words[4] != "U";
    if (words[4] == "D" || words[1] == kRepository)
      continue;
    files.push_back({std::string(path), merged ? words[3] : "", words[1] != kLink, merged});
  }
  return files;
}

Result<GitRepository> GitRepository::here() {
  auto top = git_without_hooks({"rev-parse", "--show-toplevel"}, "", kMaxList);
  if (!top && top.error().code == Errc::not_found)
    return fail(Errc::not_found, "there is no git in PATH");
  if (!top)
    return fail(Errc::not_found, top.error().message);
  if (top->ends_with('\n'))
    top->pop_back();
  if (!top->starts_with('/'))
    return unexpected_answer();
  return GitRepository(*std::move(top));
}

Result<std::vector<StagedFile>> GitRepository::staged(const std::vector<std::string>& paths) const {
  std::vector<std::string> words = {"--literal-pathspecs",
                                    "diff",
                                    "--cached",
                                    "--raw",
                                    "-z",
                                    "--no-abbrev",
                                    "--no-renames",
                                    "--no-relative",
                                    "--no-ext-diff",
                                    "--no-textconv",
                                    "--ignore-submodules=all",
                                    "--"};
  words.insert(words.end(), paths.begin(), paths.end());
  auto raw = git_without_hooks(std::move(words), "", kMaxList);
  if (!raw)
    return pass_on(raw);
  return parse_staged(*raw);
}

Result<std::vector<std::string>> GitRepository::unknown(
    const std::vector<std::string>& paths) const {
  std::vector<std::string> words = {"--literal-pathspecs", "ls-files", "--error-unmatch"};
  // Files that the commit removes are known too. Before the first commit there is nothing to
  // remove.
  if (git_without_hooks({"rev-parse", "--quiet", "--verify", "HEAD^{commit}"}, "", kMaxList))
    words.emplace_back("--with-tree=HEAD");
  words.emplace_back("--");
  const auto known = [&](const std::vector<std::string>& some) {
    std::vector<std::string> all = words;
    all.insert(all.end(), some.begin(), some.end());
    return git_without_hooks(std::move(all), "", kMaxList).has_value();
  };
  std::vector<std::string> strange;
  if (paths.empty() || known(paths))
    return strange;
  for (const std::string& path : paths)
    if (!known({path}))
      strange.push_back(path);
  return strange;
}

Result<void> GitRepository::read_blobs(const std::vector<std::string>& ids, std::size_t max_bytes,
                                       const TakeBlob& take) const {
  auto sizes = git_without_hooks({"cat-file", "--batch-check"}, joined(ids), kMaxList);
  if (!sizes)
    return pass_on(sizes);
  std::string_view lines = *sizes;
  BlobBatch batch(take);
  for (std::size_t place = 0; place < ids.size(); ++place) {
    const auto line = cut(lines, '\n');
    if (!line)
      return unexpected_answer();
    const auto size = blob_size(*line);
    if (size && *size <= max_bytes)
      batch.add(place, ids[place], *size);
    if (!size || *size > max_bytes || batch.full())
      if (auto read = batch.read(); !read)
        return read;
    if (!size)
      take(place, fail(Errc::not_found, "is not in the repository"));
    else if (*size > max_bytes)
      take(place, fail(Errc::too_large, std::to_string(*size) + " bytes; more than " +
                                            std::to_string(max_bytes) + " bytes"));
  }
  return batch.read();
}

Result<std::string> GitRepository::hooks_folder() const {
  // With the repository's core.hooksPath: no hook runs here.
  // From the top, where hooks run: a relative core.hooksPath is relative to the top.
  auto path = git({"-C", top_, "rev-parse", "--git-path", "hooks"}, "", kMaxList);
  if (!path)
    return path;
  if (path->ends_with('\n'))
    path->pop_back();
  return path->starts_with('/') ? *path : top_ + "/" + *path;
}

}  // namespace baton
