// SPDX-License-Identifier: Apache-2.0
#pragma once

// All commands of `baton`, for the command line, the help and the completions of shells.
// Each command reads its own options (workspace/options.h) and returns its exit code.
// Most commands have a file of their own in cli/commands.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/exit_code.h"

namespace baton {

struct CompletionPlace;  // workspace/options.h

/// The words after the name of the command.
class Words : public std::span<const std::string> {
 public:
  using Span = std::span<const std::string>;
  Words(Span words) : Span(words) {}  // NOLINT(google-explicit-constructor): words as they are
  explicit Words(const std::vector<std::string>& words) : Span(words) {}
  /// The words as far as a person has typed them: nothing is done, and `place` gets what is
  /// expected at their end. The last word may be empty.
  Words(Span words, CompletionPlace& place) : Span(words), place_(&place) {}

  /// nullptr: the command is to be carried out.
  CompletionPlace* place() const { return place_; }

 private:
  CompletionPlace* place_ = nullptr;
};

struct Command {
  std::string_view name;
  std::string_view summary;  ///< one line for the list of commands
  ExitCode (*run)(Words words);
};

/// All commands, in the order of the help.
std::span<const Command> commands();
/// The word by which the scripts of `baton completions` ask what may follow. It is no command for
/// people, so neither the help nor the manual lists it.
inline constexpr std::string_view kComplete = "__complete";

ExitCode agents_command(Words words);
ExitCode answer_command(Words words);
ExitCode skip_command(Words words);
ExitCode approve_command(Words words);
ExitCode reject_command(Words words);
ExitCode revise_command(Words words);
ExitCode complete_command(Words words);
ExitCode completions_command(Words words);
ExitCode costs_command(Words words);
ExitCode create_command(Words words);
ExitCode doctor_command(Words words);
ExitCode drain_command(Words words);
ExitCode events_command(Words words);
ExitCode explain_command(Words words);
ExitCode forget_command(Words words);
ExitCode hook_command(Words words);
ExitCode init_command(Words words);
ExitCode limits_command(Words words);
ExitCode logs_command(Words words);
ExitCode pause_command(Words words);
ExitCode prompt_command(Words words);
ExitCode prune_command(Words words);
ExitCode recover_command(Words words);
ExitCode reload_command(Words words);
ExitCode resume_command(Words words);
ExitCode retry_command(Words words);
ExitCode run_command_line(Words words);
ExitCode schema_command(Words words);
ExitCode send_command(Words words);
ExitCode set_command(Words words);
ExitCode start_command(Words words);
ExitCode status_command(Words words);
ExitCode stop_command(Words words);
ExitCode validate_command(Words words);
ExitCode version_command(Words words);
ExitCode wait_command(Words words);

}  // namespace baton
