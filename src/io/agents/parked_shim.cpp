#include "io/agents/parked_shim.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/agents/spawn.h"
#include "io/system/process.h"
#include "shim/protocol.h"

namespace baton {
namespace {

constexpr std::chrono::milliseconds kLeaves(200);

}  // namespace

Result<ParkedShim> ParkedShim::make(const RunFolder& runs, const std::string& shim,
                                    const std::string& boot_id) {
  const RunId id = make_run_id();
  auto place = make_spare_directory(runs, id);
  if (!place)
    return pass_on(place);
  ParkedShim parked;
  parked.shim_.id = id;
  parked.shim_.directory = place->path;
  parked.place_ = std::move(*place);
  parked.launch_ = Fd(memfd_create("launch", MFD_CLOEXEC));
  // The file gets its memory now and not during a start.
  (void)!pwrite(parked.launch_.get(), "", 1, 0);
  if (auto started = parked.start(runs, shim, boot_id); !started)
    return pass_on(started);
  return parked;
}

Result<void> ParkedShim::start(const RunFolder& runs, const std::string& shim,
                               const std::string& boot_id) {
  if (!launch_)
    return system_error(errno, "cannot make a file in memory", place_.path);
  auto lock = take_run_lock(place_.directory);
  if (!lock)
    return pass_on(lock);
  if (!*lock)
    return fail(Errc::io, "somebody else holds the lock of a new run", place_.path);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return system_error(errno, "cannot make a pipe", place_.path);
  const Fd reading(ends[0]);
  shim_.go = Fd(ends[1]);
  auto started = spawn_shim({.argv = {shim, shim::kCallVersion, shim::kModeRun, shim_.id},
                             .directory = place_.directory.get(),
                             .lock = (*lock)->get(),
                             .go = reading.get(),
                             .launch = launch_.get()});
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
  // Nothing is to be removed of one that was given up, or moved from.
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

Result<PreparedShim> ParkedShim::tell(const RunFolder& runs, const Launch& launch,
                                      const std::string& cgroup) && {
  auto text = launch_text(launch, shim_.id, runs.path + "/" + shim_.id, cgroup);
  if (!text)
    return pass_on(text);
  auto path = take_up_directory(runs, shim_.id, place_, launch.prompt);
  if (!path)
    return pass_on(path);
  shim_.directory = *path;
  if (auto told = write_all(launch_.get(), *text, *path); !told)
    return pass_on(told);
  // Somebody may have stopped it while it was nobody's.
  (void)send_signal(shim_.process.get(), SIGCONT);
  const char ready = 1;
  if (write(shim_.go.get(), &ready, 1) != 1)
    return system_error(errno,
                        "the shim has left before it heard what to start (is it of this daemon's "
                        "version? `baton doctor`)",
                        shim_.directory);
  place_.directory.reset();
  return std::move(shim_);
}

void end_parked(const Fd& process) {
  // It leaves by itself when its pipe is closed, and takes along what it has made; unless somebody
  // has stopped it.
  if (!has_ended(process.get(), kLeaves))
    (void)send_signal(process.get(), SIGKILL);
  (void)has_ended(process.get(), std::chrono::hours(1));  // it takes no longer than a moment
  (void)reap(process);
}

}  // namespace baton
