// SPDX-License-Identifier: Apache-2.0
#include "workspace/options.h"

#include <algorithm>
#include <cassert>

#include <CLI/CLI.hpp>

#include "base/text.h"
#include "workspace/output.h"

namespace baton {

struct Options::Parser {
  Parser(const std::string& name, const std::string& description) : app(description, name) {}
  CLI::App app;
  std::vector<std::pair<std::string, std::vector<std::string>>> exclusions;
  std::vector<std::pair<std::string, std::string>> needs;
};

namespace {

/// The message about an unknown option, with the option that the user probably meant.
std::string unknown(const std::vector<std::string>& extras, const std::vector<std::string>& names) {
  const auto option = std::find_if(extras.begin(), extras.end(),
                                   [](const std::string& word) { return word.starts_with("-"); });
  if (option == extras.end())
    return "too many arguments: " + printable(join(extras, " "), 200);
  const std::string name = option->substr(0, option->find('='));
  const auto near = nearest(name, names);
  return "unknown option " + printable(name, 80) + (near ? "; did you mean " + *near + "?" : "");
}

/// Words that no option or argument took. CLI11 includes the `--` that ends the options.
std::vector<std::string> left_over(const CLI::App& app) {
  std::vector<std::string> words = app.remaining();
  if (const auto mark = std::find(words.begin(), words.end(), "--"); mark != words.end())
    words.erase(mark);
  return words;
}

bool has_option(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return word.starts_with("-"); });
}

/// Refuses an empty value, which often comes from an unset variable in a script. Only texts may be
/// empty.
void refuse_empty(CLI::Option& option, const std::string& what) {
  if (what == "TEXT" || what == "INPUT" || what == "URL")
    return;
  option.check([what](const std::string& given) {
    return given.empty() ? "is empty, and names no " + what : std::string();
  });
}

/// Every command can end well, and refuses wrong options.
[[maybe_unused]] bool are_complete(const ExitLines& lines) {
  const auto has = [&](ExitCode code) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const ExitLine& line) { return line.code == code; });
  };
  return has(ExitCode::fine) && has(ExitCode::usage) &&
         std::adjacent_find(lines.begin(), lines.end(),
                            [](const ExitLine& one, const ExitLine& next) {
                              return one.code >= next.code;
                            }) == lines.end();
}

}  // namespace

std::string exit_text(const ExitLines& lines) {
  constexpr std::size_t kCodeWidth = 5;
  constexpr std::size_t kWidth = 80;
  std::string text;
  for (const ExitLine& line : lines) {
    std::string row = "  " + std::to_string(static_cast<int>(line.code));
    row.resize(2 + kCodeWidth, ' ');
    const std::string_view detail = line.detail.empty() ? row_of(line.code).means : line.detail;
    for (const std::string& word : split(detail, ' ')) {
      if (row.size() + word.size() > kWidth) {
        text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
        row.assign(2 + kCodeWidth, ' ');
      }
      row += word + " ";
    }
    row.pop_back();
    text += row + "\n";
  }
  return text;
}

Options::Options(const std::string& name, const std::string& description, const ExitLines& exits)
    : parser_(std::make_unique<Parser>("baton " + name, description)) {
  parser_->app.set_help_flag("-h,--help", "Print this and leave");
  assert(are_complete(exits));
  std::string codes = exit_text(exits);
  codes.pop_back();  // CLI11 ends the text itself
  parser_->app.footer("Exit codes:\n" + codes);
  // `parse` reports unknown options itself, because it can suggest the right one.
  parser_->app.allow_extras();
}

Options::~Options() = default;

void Options::flag(const std::string& names, bool& place, const std::string& help) {
  parser_->app.add_flag(names, place, help);
}

void Options::value(const std::string& names, std::string& place, const std::string& what,
                    const std::string& help) {
  CLI::Option* const option = parser_->app.add_option(names, place, help);
  option->type_name(what)->allow_extra_args(false);
  refuse_empty(*option, what);
}

void Options::values(const std::string& names, std::vector<std::string>& place,
                     const std::string& what, const std::string& help) {
  // Without allow_extra_args(false) an option takes all the words behind it.
  CLI::Option* const option = parser_->app.add_option(names, place, help + " (may be repeated)");
  refuse_empty(*option, what);
  option->type_name(what)->type_size(1)->allow_extra_args(false)->multi_option_policy(
      CLI::MultiOptionPolicy::TakeAll);
}

void Options::word(const std::string& what, std::string& place, const std::string& help,
                   bool required) {
  CLI::Option* const option = parser_->app.add_option(what, place, help);
  option->required(required)->type_name(" ");
  refuse_empty(*option, what);
}

void Options::words(const std::string& what, std::vector<std::string>& place,
                    const std::string& help, bool required) {
  parser_->app.add_option(what, place, help)->required(required)->type_name(" ");
}

void Options::places(Places& places) {
  value("--root", places.root, "DIR",
        "The root; else the nearest folder upwards with a baton.yaml, else this folder");
  value("--config", places.config, "FILE",
        "The configuration; else $BATON_CONFIG, baton.yaml in the root, "
        "/etc/baton/instances/ESCAPED-ROOT.yaml, one upwards whose roots: name it, "
        "$XDG_CONFIG_HOME/baton/config.yaml, /etc/baton/config.yaml");
  value("--state-dir", places.state_dir, "DIR",
        "Where state folders lie; else state_dir:, $BATON_STATE_DIR, $STATE_DIRECTORY, "
        "/var/lib/baton, $XDG_STATE_HOME/baton, ~/.local/state/baton");
}

std::optional<ExitCode> Options::parse(Words words) {
  if (words.place() != nullptr) {
    *words.place() = place_at_end(words);
    return ExitCode::fine;
  }
  // CLI11 wants them in reverse.
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  CLI::App& app = parser_->app;
  std::string fault;
  try {
    app.parse(std::move(reversed));
    if (const auto extras = left_over(app); !extras.empty())
      fault = unknown(extras, names());
    else
      fault = contradiction();
  } catch (const CLI::CallForHelp&) {
    print(app.help());
    return finish();
  } catch (const CLI::ParseError& error) {
    const auto extras = left_over(app);
    fault = has_option(extras) ? unknown(extras, names()) : std::string(error.what());
  }
  if (fault.empty())
    return std::nullopt;
  complain(fault + "\nsee `" + app.get_name() + " --help`");
  return ExitCode::usage;
}

void Options::exclude(const std::string& name, std::vector<std::string> others) {
  parser_->exclusions.emplace_back(name, std::move(others));
}

void Options::need(const std::string& name, const std::string& other) {
  parser_->needs.emplace_back(name, other);
}

std::string Options::contradiction() const {
  const auto given = [&](const std::string& name) {
    return parser_->app.get_option(name)->count() > 0;
  };
  for (const auto& [name, others] : parser_->exclusions)
    for (const std::string& other : others)
      if (given(name) && given(other))
        return name + " and " + other + " exclude each other";
  for (const auto& [name, other] : parser_->needs)
    if (given(name) && !given(other))
      return name + " needs " + other;
  return {};
}

namespace {

/// nullptr: the word names no option that takes a value.
const CLI::Option* valued_option(const CLI::App& app, const std::string& name) {
  const CLI::Option* const option = name.starts_with("-") ? app.get_option_no_throw(name) : nullptr;
  return option != nullptr && option->get_items_expected_max() > 0 ? option : nullptr;
}

/// The name of the argument at this place; empty: there is none.
std::string argument_at(const CLI::App& app, std::size_t place) {
  std::string last;
  for (const CLI::Option* const option : app.get_options()) {
    if (!option->get_positional())
      continue;
    last = option->get_items_expected_max() > 1 ? option->get_name(true) : "";
    if (place == 0)
      return option->get_name(true);
    --place;
  }
  return last;
}

/// Reads the words of a command that is still being typed.
class UnfinishedLine {
 public:
  explicit UnfinishedLine(const CLI::App& app) : app_(app) {}

  /// What is expected at the place of the last word.
  CompletionPlace place(Words words) && {
    for (const std::string& word : words.first(words.size() - 1))
      pass(word);
    end_with(words.back());
    place_.places = {place_.given["--root"], place_.given["--config"], place_.given["--state-dir"]};
    return std::move(place_);
  }

 private:
  void pass(const std::string& word) {
    if (valued_ != nullptr) {
      place_.given[name_] = word;
      valued_ = nullptr;
    } else if (!is_option(word) || word == "-") {  // `-` is the standard input
      place_.before.push_back(word);
    } else if (word == "--") {
      only_arguments_ = true;
    } else if (const auto value = split_option(word); value && valued_ != nullptr) {
      place_.given[name_] = *value;
      valued_ = nullptr;
    }
  }

  void end_with(const std::string& word) {
    place_.typed = word;
    if (valued_ == nullptr && is_option(word)) {
      const auto value = split_option(word);
      if (!value)
        return add_options();
      place_.lead = name_ + "=";
      place_.typed = *value;
    }
    place_.option = valued_ == nullptr ? "" : name_;
    place_.what = valued_ != nullptr    ? valued_->get_type_name()
                  : place_.lead.empty() ? argument_at(app_, place_.before.size())
                                        : "";
  }

  bool is_option(const std::string& word) const {
    return !only_arguments_ && word.starts_with("-");
  }

  /// Sets the option that the word names, if it takes a value. Returns what stands behind a `=`.
  std::optional<std::string> split_option(const std::string& word) {
    const std::size_t end = word.find('=');
    name_ = word.substr(0, end);
    valued_ = valued_option(app_, name_);
    return end == std::string::npos ? std::nullopt : std::optional(word.substr(end + 1));
  }

  void add_options() {
    valued_ = nullptr;
    for (const CLI::Option* const option : app_.get_options())
      for (const std::string& each : option->get_lnames())
        place_.options.emplace_back("--" + each, option->get_description());
  }

  const CLI::App& app_;
  CompletionPlace place_;
  const CLI::Option* valued_ = nullptr;  ///< the option whose value follows
  std::string name_;                     ///< of that option, as it was typed
  bool only_arguments_ = false;          ///< after `--`
};

}  // namespace

CompletionPlace Options::place_at_end(Words words) const {
  return words.empty() ? CompletionPlace{} : UnfinishedLine(parser_->app).place(words);
}

std::vector<std::string> Options::names() const {
  std::vector<std::string> all;
  for (const CLI::Option* const option : parser_->app.get_options()) {
    for (const std::string& name : option->get_lnames())
      all.push_back("--" + name);
    for (const std::string& name : option->get_snames())
      all.push_back("-" + name);
  }
  return all;
}

}  // namespace baton
