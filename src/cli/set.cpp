#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "app/judge.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/context.h"
#include "cli/inspection.h"
#include "cli/options.h"
#include "cli/output.h"
#include "io/disk.h"
#include "io/place.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

/// After this much time of others writing in between, something is wrong.
constexpr std::chrono::seconds kPatience{60};
constexpr Millis kLongestNap{16};

struct Arguments {
  Places places;
  std::string file;
  std::vector<std::string> changes;
  std::vector<std::string> expectations;
};

/// `POINTER=JSON`, for example `/status="done"`.
struct Pair {
  std::string pointer;
  Json value;
};

Result<Pair> parse_pair(const std::string& word) {
  const auto equals = word.find('=');
  if (equals == std::string::npos)
    return fail(Errc::usage, "`" + printable(word, 200) + "` is not POINTER=JSON");
  const std::string pointer = word.substr(0, equals);
  if (!json::pointer_tokens(pointer))
    return fail(Errc::usage, "`" + printable(pointer, 200) +
                                 "` is no JSON pointer; one begins with /, as in /status");
  const std::string text = word.substr(equals + 1);
  auto value = parse_json(text);
  if (value)
    return Pair{pointer, *std::move(value)};
  std::string message = "`" + printable(text, 200) + "` is no JSON: " + value.error().message;
  if (text.empty())
    message = "there is no value behind " + printable(pointer, 200) + "=";
  else if (text.find_first_of("\"'{}[] ") == std::string::npos)
    message += "; a text needs its quotes, and the shell a second pair: '" +
               printable(pointer, 200) + "=\"" + printable(text, 200) + "\"'";
  return fail(Errc::usage, std::move(message));
}

Result<std::vector<Pair>> parse_pairs(const std::vector<std::string>& words) {
  std::vector<Pair> pairs;
  for (const std::string& word : words) {
    auto pair = parse_pair(word);
    if (!pair)
      return pass_on(pair);
    pairs.push_back(*std::move(pair));
  }
  return pairs;
}

/// One file, and what is known about it.
class StateFile {
 public:
  /// What a configuration says about the file counts; having none, or a broken one, does not stop
  /// an agent from writing its state.
  static Result<StateFile> open(const Arguments& arguments) {
    if (auto plain = check_links(arguments); !plain)
      return pass_on(plain);
    auto real = real_path(arguments.file);
    if (!real)
      return pass_on(real);
    StateFile file;
    file.shown_ = arguments.file;
    file.name_ = fs::path(*real).filename().string();
    const std::string folder = fs::path(*real).parent_path().string();
    auto disk = real_disk(folder);
    if (!disk)
      return pass_on(disk);
    file.disk_ = *std::move(disk);
    Places places = arguments.places;
    if (places.root.empty())
      places.root = root_of(folder);
    if (const auto context = Context::open(places)) {
      file.schemas_ = std::make_unique<Schemas>(schemas_below(context->folder()));
      if (auto dialects = known_dialects(context->config()))
        file.catalog_ = Catalog::of(*dialects);
      file.path_ = below(context->root(), *real).value_or("");
    } else {
      complain("the file is written without a check: " + printable(describe(context.error())));
    }
    return file;
  }

  Result<FileBytes> read() { return disk_->read(name_, LoadLimits{}.max_bytes); }
  Result<void> replace(const Digest& assumes, std::string_view text) {
    return disk_->replace(name_, assumes, text);
  }

  /// The findings of the new text.
  Findings check(const std::string& text) {
    const auto match = path_.empty() ? std::nullopt : catalog_.match(path_);
    if (match)
      return judge(*match, shown_, text, *schemas_, LoadLimits{}).findings;
    auto loaded = load_document(text, Format::json);
    return loaded ? Findings{} : loaded.error().findings;
  }
  const std::string& shown() const { return shown_; }

 private:
  /// Like the daemon, which does not read through a link: neither one as the file, nor one to a
  /// folder below a root. Errc::not_regular.
  static Result<void> check_links(const Arguments& arguments) {
    std::string named;
    if (!arguments.places.root.empty())
      named = real_path(arguments.places.root).value_or("");
    const auto in_root = [&](const std::string& folder) {
      if (named.empty())
        return !root_of(folder).empty();
      return folder == named || below(named, folder).has_value();
    };
    std::string link = way_to(arguments.file, in_root).link;
    std::error_code error;
    if (link.empty() && fs::is_symlink(fs::symlink_status(arguments.file, error)))
      link = arguments.file;
    if (link.empty())
      return {};
    return fail(Errc::not_regular, "is a symbolic link, which is not followed; name what it means",
                link);
  }

  /// The nearest folder upwards from the file that has a configuration; agents may work elsewhere.
  static std::string root_of(const std::string& folder) {
    std::error_code error;
    for (fs::path at = folder;; at = at.parent_path()) {
      if (fs::exists(at / "baton.yaml", error))
        return at.string();
      if (at == at.parent_path())
        return {};
    }
  }

  std::string shown_;
  std::string name_;
  std::string path_;
  std::unique_ptr<Disk> disk_;
  std::unique_ptr<Schemas> schemas_;
  Catalog catalog_;
};

/// What of the expectations does not hold; empty when all do.
std::string unmet(const Value& root, const std::vector<Pair>& expectations) {
  for (const Pair& expected : expectations) {
    const Value* const found = json::at(root, expected.pointer);
    if (found == nullptr)
      return expected.pointer + " is not there; expected " + printable(expected.value.dump(), 200);
    if (!json::equal(*found, *expected.value))
      return expected.pointer + " is " + printable(json::dump(*found), 200) + ", not " +
             printable(expected.value.dump(), 200);
  }
  return {};
}

enum class Attempt { done, again, refused, unfit };

/// Reads, changes, checks and replaces once.
Result<Attempt> attempt(StateFile& file, const std::vector<Pair>& changes,
                        const std::vector<Pair>& expectations) {
  auto before = file.read();
  if (!before)
    return pass_on(before);
  auto value = parse_json(before->bytes);
  if (!value)
    return fail(Errc::parse, "the file is no JSON now: " + value.error().message, file.shown());
  if (const std::string why = unmet(**value, expectations); !why.empty()) {
    complain(printable(file.shown()) + ": " + why + "; nothing was changed");
    return Attempt::refused;
  }
  std::vector<json::Edit> edits;
  edits.reserve(changes.size());
  for (const Pair& change : changes)
    edits.push_back({change.pointer, change.value.dump()});
  auto after = json::splice(before->bytes, edits);
  if (!after)
    return fail(Errc::changed, after.error().message, file.shown());
  if (*after == before->bytes)
    return Attempt::done;
  const Findings findings = file.check(*after);
  if (has_error(findings)) {
    std::string text = "the change would break the file; nothing was changed\n";
    for (const Finding& finding : findings)
      text += finding_text(file.shown(), finding);
    text.pop_back();
    complain(text);
    return Attempt::unfit;
  }
  const auto replaced = file.replace(before->digest, *after);
  if (replaced)
    return Attempt::done;
  if (replaced.error().code == Errc::changed || replaced.error().code == Errc::busy)
    return Attempt::again;
  return tl::unexpected(replaced.error());
}

ExitCode change(StateFile& file, const std::vector<Pair>& changes,
                const std::vector<Pair>& expectations) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  Millis nap{1};
  for (;;) {
    const auto tried = attempt(file, changes, expectations);
    if (!tried) {
      const bool failed = tried.error().code == Errc::parse || tried.error().code == Errc::changed;
      (void)complain(tried.error());
      return failed ? ExitCode::failed : exit_code_of(tried.error().code);
    }
    if (*tried != Attempt::again)
      return *tried == Attempt::done ? ExitCode::fine : ExitCode::failed;
    if (std::chrono::steady_clock::now() > until) {
      complain(printable(file.shown()) + ": others write it all the time; nothing was changed");
      return ExitCode::unreachable;
    }
    std::this_thread::sleep_for(nap);
    nap = nap >= kLongestNap ? Millis{1} : nap * 2;
  }
}

}  // namespace

ExitCode set_command(Words words) {
  Arguments arguments;
  Options options(
      "set",
      "Changes members of a JSON file that others write too: locked, checked against its schema\n"
      "where that is known, and replaced at once. When somebody else was faster, it is read again\n"
      "and the change made to that. Everything else in the file stays as it is written.\n"
      "Works without a daemon and without a configuration.\n\n"
      "  baton set group_status.json '/A/status=\"waiting_qa\"' /A/attempts=2",
      "  0  changed, or already so\n"
      "  1  not as expected, or the change would break the file; nothing was changed\n"
      "  2  wrong usage\n"
      "  3  the file cannot be read or written");
  options.word("FILE", arguments.file, "The file");
  options.words("POINTER=JSON", arguments.changes,
                "What to set: a JSON pointer and a value; /- at the end appends to a list", true);
  options.values("--expect", arguments.expectations, "POINTER=JSON",
                 "Change nothing unless the file says this");
  options.places(arguments.places);
  if (const auto over = options.parse(words))
    return *over;
  const auto changes = parse_pairs(arguments.changes);
  if (!changes)
    return complain(changes.error());
  for (const Pair& each : *changes)
    if (each.pointer.empty()) {
      complain("`=` alone would replace the whole file; write a pointer, such as /status=...");
      return ExitCode::usage;
    }
  const auto expectations = parse_pairs(arguments.expectations);
  if (!expectations)
    return complain(expectations.error());
  auto file = StateFile::open(arguments);
  if (!file)
    return complain(file.error());
  return finish(change(*file, *changes, *expectations));
}

}  // namespace baton
