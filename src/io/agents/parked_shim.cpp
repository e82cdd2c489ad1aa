// SPDX-License-Identifier: Apache-2.0
#include "io/agents/parked_shim.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/system/command.h"
#include "io/system/spawn.h"
#include "shim/protocol.h"

namespace baton {
namespace {

constexpr std::chrono::milliseconds kLeaves(200);

}  // namespace

Result<ParkedShim> ParkedShim::make(const RunFolder& runs, const std::string& shim,
                                    const std::string& boot_id, const ShimPrefix& prefix) {
  const RunId id = make_run_id();
  auto place = make_spare_directory(runs, id);
  if (!place)
    return pass_on(place);
  ParkedShim parked;
  parked.shim_.id = id;
  parked.shim_.directory = place->path;
  parked.place_ = std::move(*place);
  parked.launch_ = Fd(memfd_create("launch", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  parked.prompt_ = Fd(memfd_create("prompt", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  // Allocate the memory of the files now, not during a start.
  for (const Fd* const file : {&parked.launch_, &parked.prompt_})
    (void)!pwrite(file->get(), "", 1, 0);
  if (auto started = parked.start(runs, shim, boot_id, prefix); !started)
    return pass_on(started);
  return parked;
}

Result<void> ParkedShim::start(const RunFolder& runs, const std::string& shim,
                               const std::string& boot_id, const ShimPrefix& prefix) {
  if (!launch_ || !prompt_)
    return system_error(errno, "cannot make a file in memory", place_.path);
  auto lock = take_run_lock(place_.directory);
  if (!lock)
    return pass_on(lock);
  if (!*lock)
    return fail(Errc::io, "another process holds the lock of a new run", place_.path);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return system_error(errno, "cannot make a pipe", place_.path);
  const Fd reading(ends[0]);
  shim_.go = Fd(ends[1]);
  std::vector<std::string> argv = prefix.words;
  argv.insert(argv.end(), {shim, shim::kCallVersion, shim::kModeRun, shim_.id});
  auto started = spawn_shim({.argv = std::move(argv),
                             .descriptors = {{place_.directory.get(), shim::kDirectoryFd},
                                             {(*lock)->get(), shim::kLockFd},
                                             {reading.get(), shim::kGoFd},
                                             {launch_.get(), shim::kLaunchFd},
                                             {prompt_.get(), shim::kPromptFd}},
                             .env = prefix.env});
  if (!started)
    return pass_on(started);
  shim_.pid = started->pid;
  shim_.process = std::move(started->process);
  shim_.awaited = std::move(started->awaited);
  const auto stat = process_stat(shim_.pid);
  if (!stat)
    return fail(Errc::busy, "cannot look at the shim just started", place_.path);
  shim_.start_ticks = stat->start_ticks;
  return write_claim(runs, place_, {shim_.pid, shim_.start_ticks, shim_.id}, boot_id);
}

ParkedShim::~ParkedShim() {
  // A shim that was handed over or moved from owns nothing.
  if (!place_.directory)
    return;
  shim_.go.reset();
  if (shim_.process)
    end_parked(shim_.process);
  (void)remove_run_directory(shim_.directory);
}

bool ParkedShim::ended() const {
  return has_ended(shim_.process.get());
}

Result<PreparedShim> ParkedShim::assign(const RunFolder& runs, const Launch& launch,
                                        const std::string& cgroup) && {
  auto text = launch_text(launch, shim_.id, runs.path + "/" + shim_.id, cgroup);
  if (!text)
    return pass_on(text);
  auto path = move_into_place(runs, shim_.id, place_);
  if (!path)
    return pass_on(path);
  shim_.directory = *path;
  for (const auto& [file, content] :
       {std::pair<const Fd&, std::string_view>(launch_, *text), {prompt_, launch.prompt}}) {
    if (auto told = write_all(file.get(), content, *path); !told)
      return pass_on(told);
    if (ftruncate(file.get(), static_cast<off_t>(content.size())) != 0 || !seal(file))
      return system_error(errno, "launch and prompt cannot be sealed", *path);
  }
  if (auto copied = write_prompt(runs, place_, launch.prompt); !copied)
    return pass_on(copied);
  // Another process may have stopped the shim while it waited.
  (void)send_signal(shim_.process.get(), SIGCONT);
  const char ready = 1;
  if (write(shim_.go.get(), &ready, 1) != 1)
    return system_error(errno,
                        "the shim ended before it got its command; `baton doctor` tells whether "
                        "baton and baton-shim have the same version",
                        shim_.directory);
  place_.directory.reset();
  return std::move(shim_);
}

void end_parked(const Fd& process) {
  // The shim ends by itself when its pipe closes, and removes what it made, unless another process
  // has stopped it.
  if (!has_ended(process.get(), kLeaves))
    (void)send_signal(process.get(), SIGKILL);
  (void)has_ended(process.get(), std::chrono::hours(1));  // this takes only a moment
  (void)reap(process);
}

}  // namespace baton
