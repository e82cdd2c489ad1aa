#include "app/outbox.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "app/writes.h"

namespace baton {
namespace {

constexpr std::string_view kBehind = "is behind an earlier write that waits";

bool no_room(const Result<void>& done) {
  return !done && (done.error().code == Errc::no_space || done.error().code == Errc::busy);
}

}  // namespace

std::set<std::string> Outbox::recover(const std::vector<Intent>& intents, std::size_t max_bytes) {
  std::set<std::string> paths;
  for (const Intent& intent : intents) {
    if (awaits(intent.path)) {
      waiting_.push_back({intent, std::string(kBehind)});
      continue;
    }
    Intent left = intent;
    const Settled settled = settle(disk_, left, max_bytes);
    const auto redone = settled == Settled::redo ? baton::perform(disk_, left) : Result<void>();
    if (no_room(redone)) {
      waiting_.push_back({left, redone.error().message});
      continue;
    }
    if (settled == Settled::abandoned || !redone)
      gave_way_.insert(intent.path);
    done_.push_back(intent.id);
    paths.insert(intent.path);
  }
  return paths;
}

Outbox::Performed Outbox::perform(const std::vector<Intent>& writes) {
  Performed performed;
  std::vector<Intent> all;
  for (Waiting& each : std::exchange(waiting_, {}))
    all.push_back(std::move(each.write));
  all.insert(all.end(), writes.begin(), writes.end());
  for (const Intent& write : all) {
    // A write behind one that waits for room waits too: it builds on it.
    const bool behind = awaits(write.path);
    const auto done = behind ? Result<void>(fail(Errc::busy, std::string(kBehind)))
                             : baton::perform(disk_, write);
    performed.paths.insert(write.path);
    if (!done && !write.vital) {
      performed.missed.emplace_back(write, done.error());
      done_.push_back(write.id);
      performed.settled = true;
      continue;
    }
    if (!done)
      performed.unfit.insert(write.flow);
    if (no_room(done)) {
      waiting_.push_back({write, done.error().message});
      performed.no_room = true;
      continue;
    }
    if (!done) {
      performed.again.insert(write.flow);
      gave_way_.insert(write.path);
    } else {
      gave_way_.erase(write.path);
    }
    done_.push_back(write.id);
    performed.settled = true;
  }
  return performed;
}

bool Outbox::awaits(const std::string& path) const {
  return std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& each) {
    return each.write.path == path || each.write.to == path;
  });
}

std::set<FlowId> Outbox::flows() const {
  std::set<FlowId> flows;
  for (const Waiting& each : waiting_)
    flows.insert(each.write.flow);
  return flows;
}

std::string Outbox::waiting(const FlowId& flow) const {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& each) { return each.write.flow == flow; });
  return found == waiting_.end() ? "" : found->write.path + " " + found->why;
}

}  // namespace baton
