// SPDX-License-Identifier: Apache-2.0
#include "io/watch/watch.h"

#include <fstream>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "io/watch/inotify_tree.h"
#include "io/watch/poller.h"

namespace baton {

struct Watch::State : std::enable_shared_from_this<Watch::State> {
  State(asio::io_context& io, const std::string& root, std::vector<WatchedFolder> folders,
        const WatchOptions& with)
      : options(with),
        scope(std::move(folders)),
        tree(root, scope, with.poll_only ? 0 : with.max_watches),
        events(io),
        poll_timer(io),
        rescan_timer(io) {}

  void start();
  void stop();
  void wait_for_events();
  void wait_for_poll();
  void wait_for_rescan();
  void report(Changes changes);
  void update_polled(Changes& changes);
  void poll();
  bool polls() const { return !tree.unwatched().empty() || tree.fd() < 0 || !events.is_open(); }

  WatchOptions options;
  WatchScope scope;
  InotifyTree tree;
  asio::posix::stream_descriptor events;
  asio::steady_timer poll_timer;
  asio::steady_timer rescan_timer;
  std::function<void(const Changes&)> changed;
  FileStates stamps;
  std::set<std::string> polled;  ///< the folders that `stamps` describes
  bool polling = false;
  bool stopped = false;
};

void Watch::State::start() {
  asio::error_code error;
  if (tree.fd() >= 0)
    events.assign(tree.fd(), error);
  Changes none;
  update_polled(none);
  wait_for_events();
  wait_for_rescan();
}

void Watch::State::stop() {
  stopped = true;
  changed = nullptr;
  if (events.is_open())
    events.release();  // the tree owns the descriptor
  asio::error_code ignored;
  poll_timer.cancel(ignored);
  rescan_timer.cancel(ignored);
}

void Watch::State::wait_for_events() {
  if (!events.is_open())
    return;
  events.async_wait(asio::posix::stream_descriptor::wait_read,
                    [self = shared_from_this()](const asio::error_code& error) {
                      if (error || self->stopped)
                        return;
                      Changes changes;
                      self->tree.drain(changes);
                      self->report(std::move(changes));
                      if (!self->stopped)
                        self->wait_for_events();
                    });
}

void Watch::State::wait_for_poll() {
  polling = true;
  poll_timer.expires_after(options.poll_every);
  poll_timer.async_wait([self = shared_from_this()](const asio::error_code& error) {
    if (error || self->stopped)
      return;
    self->polling = false;
    self->poll();
  });
}

void Watch::State::wait_for_rescan() {
  if (options.rescan_every == Millis{0})
    return;
  rescan_timer.expires_after(options.rescan_every);
  rescan_timer.async_wait([self = shared_from_this()](const asio::error_code& error) {
    if (error || self->stopped)
      return;
    self->wait_for_rescan();
    Changes changes;
    self->tree.check(changes);
    changes.rescans.insert("timer");
    self->report(std::move(changes));
  });
}

// Takes the first states of folders that are polled from now on. This comes before the caller's
// scan, so that any change after the scan differs from them.
void Watch::State::update_polled(Changes& changes) {
  if (tree.unwatched() != polled) {
    const bool more = tree.unwatched().size() > polled.size();
    auto now = stamps_of(tree.root(), tree.unwatched(), scope, !tree.network().empty());
    if (now) {
      changes.paths.merge(differences(stamps, *now));
      stamps = std::move(*now);
      polled = tree.unwatched();
      if (more && tree.network().empty())
        changes.rescans.insert("watch_limit");
    }
  }
  if (polls() && !polling)
    wait_for_poll();
}

void Watch::State::report(Changes changes) {
  update_polled(changes);
  if (!changes.empty() && changed) {
    // Copy it: the callback may destroy the watch and itself.
    const auto callback = changed;
    callback(changes);
  }
}

void Watch::State::poll() {
  Changes changes;
  tree.check(changes);
  if (tree.root() >= 0 && tree.unwatched() == polled) {
    // If descriptors have run out, the next look shows the same differences.
    if (auto now = stamps_of(tree.root(), polled, scope, !tree.network().empty())) {
      changes.paths.merge(differences(stamps, *now));
      stamps = std::move(*now);
    }
  }
  report(std::move(changes));
}

Watch::Watch(std::shared_ptr<State> state) : state_(std::move(state)) {}

Watch::~Watch() {
  state_->stop();
}

bool Watch::polls() const {
  return state_->polls();
}

std::string Watch::describe() const {
  const InotifyTree& tree = state_->tree;
  if (!tree.waits_at().empty())
    return "the root is missing; baton waits for it in " + tree.waits_at();
  std::string every = "polled every " + duration_text(state_->options.poll_every);
  if (!tree.network().empty())
    return every + ": the root is on " + std::string(tree.network());
  if (state_->options.poll_only)
    return every;
  if (tree.fd() < 0)
    return every + ": no inotify instance is left (fs.inotify.max_user_instances)";
  std::string text =
      "inotify, " + std::to_string(tree.watches()) + (tree.watches() == 1 ? " folder" : " folders");
  if (!tree.unwatched().empty()) {
    std::string limit;
    std::getline(std::ifstream("/proc/sys/fs/inotify/max_user_watches"), limit);
    text += "; " + std::to_string(tree.unwatched().size()) + " more and what is below them " +
            every + ": no watches are left" +
            (limit.empty() ? "" : " (fs.inotify.max_user_watches is " + limit + ")");
  }
  if (!tree.unreadable().empty())
    text += "; " + std::to_string(tree.unreadable().size()) + " cannot be read";
  return text;
}

std::unique_ptr<Watch> watch(asio::io_context& io, const std::string& root,
                             std::vector<WatchedFolder> folders,
                             std::function<void(const Changes&)> changed,
                             const WatchOptions& options) {
  auto state = std::make_shared<Watch::State>(io, root, std::move(folders), options);
  state->changed = std::move(changed);
  state->start();
  return std::make_unique<Watch>(std::move(state));
}

}  // namespace baton
