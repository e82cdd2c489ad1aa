#include "workspace/backup_filter.h"

#include <memory>
#include <utility>

#include "base/text.h"
#include "io/files/path_trust.h"
#include "io/system/command.h"
#include "workspace/environment.h"

namespace baton {
namespace {

constexpr std::chrono::seconds kLimit{10};
constexpr std::size_t kMostFilteredBytes = 64U << 20U;
constexpr std::size_t kShown = 200;

Result<std::string> bytes_of(Result<CommandOutcome> done, const std::string& name) {
  if (!done)
    return pass_on(done);
  if (done->exit != 0)
    return fail(Errc::io, name + " ended with " + std::to_string(done->exit) + ": " +
                              printable(done->errors, kShown));
  if (done->output.empty())
    return fail(Errc::io, name + " wrote nothing");
  return std::move(done->output);
}

Result<std::unique_ptr<RunningCommand>> started(std::vector<std::string> argv,
                                                std::string_view bytes, const std::string& folder) {
  auto program = find_program(argv.front(), variable("PATH"), folder);
  if (!program)
    return fail(Errc::config, describe(program.error()));
  argv.front() = *std::move(program);
  return RunningCommand::start(argv, bytes, kMostFilteredBytes, kLimit);
}

}  // namespace

Filter filter_below(const std::string& configuration_folder) {
  return [configuration_folder](const std::vector<std::string>& argv,
                                std::string_view bytes) -> Filtering {
    auto begun = started(argv, bytes, configuration_folder);
    if (!begun)
      return [error = begun.error()](bool) { return Result<std::string>(tl::unexpected(error)); };
    // Functions can be copied, so it is shared.
    const std::shared_ptr<RunningCommand> command = *std::move(begun);
    return [command, name = argv.front()](bool wait) -> std::optional<Result<std::string>> {
      auto done = command->ended(wait);
      if (!done)
        return std::nullopt;
      return bytes_of(*std::move(done), name);
    };
  };
}

}  // namespace baton
