#include "app/outbox.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "app/writes.h"

namespace baton {
namespace {

constexpr std::string_view kBehind = "is behind an earlier write that waits";
constexpr Millis kTryAgain{1000};
constexpr Millis kLongestPause{60'000};

bool gives_way(const Result<void>& done) {
  return !done && done.error().code == Errc::changed;
}

bool no_room(const Error& error) {
  return error.code == Errc::no_space || error.code == Errc::busy;
}

}  // namespace

/// What is refused is seldom permitted within a second, and each try may cost a temporary file.
void Outbox::put_off(Waiting& waiting, const Error& error, Time now) {
  waiting.refused = !no_room(error);
  waiting.why = (error.where.empty() ? waiting.write.path : error.where) + " " + error.message;
  waiting.pause =
      waiting.refused ? std::clamp(2 * waiting.pause, kTryAgain, kLongestPause) : kTryAgain;
  waiting.due = now + waiting.pause;
}

std::set<std::string> Outbox::recover(const std::vector<Intent>& intents, std::size_t max_bytes) {
  std::set<std::string> paths;
  for (const Intent& intent : intents) {
    if (awaits(intent.path)) {
      waiting_.push_back({intent, intent.path + " " + std::string(kBehind)});
      continue;
    }
    Intent left = intent;
    const Settled settled = settle(disk_, left, max_bytes);
    const auto redone = settled == Settled::redo ? baton::perform(disk_, left) : Result<void>();
    if (!redone && !gives_way(redone)) {
      put_off(waiting_.emplace_back(Waiting{left, {}}), redone.error(), Time{});
      continue;
    }
    if (settled == Settled::abandoned || !redone)
      gave_way_.emplace(intent.path, intent.assumes);
    else
      gave_way_.erase(intent.path);
    done_.push_back(intent.id);
    paths.insert(intent.path);
  }
  return paths;
}

void Outbox::suppose(const std::vector<Intent>& intents, std::size_t max_bytes) {
  for (Intent write : intents)
    if (awaits(write.path) || settle(disk_, write, max_bytes) == Settled::redo)
      supposed_.push_back(write);
}

Result<void> Outbox::make(const Waiting& waiting) {
  const Intent& write = waiting.write;
  auto done = waiting.overtaken ? Result<void>(fail(Errc::changed, "was changed", write.path))
                                : baton::perform(disk_, write);
  if (!gives_way(done) || write.kind != Intent::Kind::replace)
    return done;
  // Somebody may have written the very same.
  const auto there = disk_.read(write.path, write.bytes.size());
  return there && there->digest == write.after ? Result<void>() : done;
}

Outbox::Performed Outbox::perform(const std::vector<Intent>& writes, Time now) {
  Performed performed;
  std::vector<Waiting> all = std::exchange(waiting_, {});
  std::transform(writes.begin(), writes.end(), std::back_inserter(all), [](const Intent& write) {
    return Waiting{write, {}};
  });
  // A write behind one that waits waits too: it builds on it. By path, that one.
  std::map<std::string, Waiting> ahead;
  const auto wait = [&](Waiting waiting) {
    performed.unfit.insert(waiting.write.flow);
    for (const std::string* const path : {&waiting.write.path, &waiting.write.to})
      if (!path->empty())
        ahead.try_emplace(*path, Waiting{{}, {}, waiting.refused, {}, waiting.due});
    waiting_.push_back(std::move(waiting));
  };
  for (Waiting& each : all) {
    const Intent& write = each.write;
    if (const auto first = ahead.find(write.path); first != ahead.end()) {
      each.why = write.path + " " + std::string(kBehind);
      each.refused = first->second.refused;
      each.due = first->second.due;
      wait(std::move(each));
      continue;
    }
    if (now < each.due && !each.overtaken) {
      wait(std::move(each));
      continue;
    }
    const auto done = make(each);
    performed.paths.insert(write.path);
    if (!done && !write.vital) {
      performed.missed.emplace_back(write, done.error());
    } else if (gives_way(done)) {
      performed.unfit.insert(write.flow);
      performed.again.insert(write.flow);
      gave_way_.emplace(write.path, write.assumes);
    } else if (!done) {
      put_off(each, done.error(), now);
      wait(std::move(each));
      performed.news = true;
      continue;
    } else {
      gave_way_.erase(write.path);
    }
    done_.push_back(write.id);
    performed.news = true;
  }
  return performed;
}

bool Outbox::awaits(const std::string& path) const {
  const auto about = [&](const Intent& write) { return write.path == path || write.to == path; };
  return std::any_of(supposed_.begin(), supposed_.end(), about) ||
         std::any_of(waiting_.begin(), waiting_.end(),
                     [&](const Waiting& each) { return about(each.write); });
}

void Outbox::meet(const std::string& path, std::size_t max_bytes) {
  const auto first = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& each) { return each.write.path == path; });
  if (first == waiting_.end())
    return;
  // One that is away may be back in a moment: only what was read is another one.
  Intent write = first->write;
  first->overtaken =
      disk_.read(path, max_bytes) && settle(disk_, write, max_bytes) == Settled::abandoned;
}

std::set<FlowId> Outbox::flows() const {
  std::set<FlowId> flows;
  for (const Waiting& each : waiting_)
    flows.insert(each.write.flow);
  return flows;
}

std::optional<Hold> Outbox::hold(const FlowId& flow) const {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& each) { return each.write.flow == flow; });
  if (found == waiting_.end())
    return std::nullopt;
  if (found->refused)
    return Hold{
        "", "", "own_write",
        "a write of baton's own was refused, and is tried again within a minute: " + found->why};
  return Hold{"", "", "write_pending",
              "a write is still to be made, tried again every second: " + found->why};
}

bool Outbox::passing() const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [](const Waiting& each) { return !each.refused; });
}

std::optional<Time> Outbox::wake() const {
  const auto first =
      std::min_element(waiting_.begin(), waiting_.end(),
                       [](const Waiting& one, const Waiting& two) { return one.due < two.due; });
  return first == waiting_.end() ? std::nullopt : std::optional(first->due);
}

void Outbox::forget(const FlowId& flow) {
  std::erase_if(waiting_, [&](const Waiting& each) { return each.write.flow == flow; });
}

}  // namespace baton
