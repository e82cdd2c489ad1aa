#include "cli/filter.h"

#include "base/text.h"
#include "cli/environment.h"
#include "io/command.h"
#include "io/trust.h"

namespace baton {
namespace {

constexpr std::chrono::seconds kLimit{10};
constexpr std::size_t kMostBytes = 64U << 20U;
constexpr std::size_t kShown = 200;

}  // namespace

Filter filter_below(const std::string& configuration_folder) {
  return [configuration_folder](const std::vector<std::string>& argv,
                                std::string_view bytes) -> Result<std::string> {
    auto program = find_program(argv.front(), variable("PATH"), configuration_folder);
    if (!program)
      return fail(Errc::config, describe(program.error()));
    std::vector<std::string> words = argv;
    words.front() = *program;
    auto done = run_command(words, bytes, kMostBytes, kLimit);
    if (!done)
      return pass_on(done);
    if (done->exit != 0)
      return fail(Errc::io, argv.front() + " ended with " + std::to_string(done->exit) + ": " +
                                printable(done->errors, kShown));
    if (done->output.empty())
      return fail(Errc::io, argv.front() + " wrote nothing");
    return done->output;
  };
}

}  // namespace baton
