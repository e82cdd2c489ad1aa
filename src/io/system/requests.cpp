// SPDX-License-Identifier: Apache-2.0
#include "io/system/requests.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <pwd.h>

#include "base/json/document.h"
#include "base/text.h"
#include "io/files/exchange.h"
#include "io/files/folder.h"
#include "io/files/root.h"
#include "io/files/safe_open.h"
#include "io/system/asker.h"

namespace baton {

namespace {

constexpr std::size_t kMaxRequestBytes = 1U << 20U;
constexpr std::time_t kReplyAge = 3600;
/// The waiting command looks for its answer every 20 ms.
constexpr std::time_t kReplyRead = 2;
constexpr std::chrono::milliseconds kAnswerIsRead{(kReplyRead + 2) * 1000};
/// Look for old answers at most this often: there may be a thousand.
constexpr std::time_t kPruneEvery = 60;
constexpr mode_t kPrivate = 0750;
constexpr std::string_view kSuffix = ".json";
constexpr Millis kNap{20};
constexpr const char* kReserve = ".reserve";
constexpr std::size_t kReserveBytes = 256U << 10U;
constexpr std::chrono::milliseconds kRoomAppears{50};
/// Enough to open a journal.
constexpr off_t kJournalBytes = 64U << 10U;
/// Enough for a request, its transaction and its answer.
constexpr std::uint64_t kAnswerBytes = 128U << 10U;
/// With less free space than this, leave the space to the journal or to the process that released
/// it.
constexpr std::uint64_t kAmpleBytes = 4 * kReserveBytes;
constexpr std::uint64_t kRoomyFiles = 16;
/// A smaller disk has no reserve.
constexpr std::uint64_t kSmallDisk = 8 * kAmpleBytes;
/// More than the space that ext4 reports as free but gives to no process (16 MiB).
constexpr std::uint64_t kUnusableBytes = 64U << 20U;

Result<Fd> open_part(int state, const std::string& name) {
  return safe_open(state, name, O_RDONLY | O_DIRECTORY);
}

std::string request_text(const Request& request) {
  return Json::object(
             {{"id", request.id},
              {"verb", request.verb},
              {"dialect", request.flow.dialect},
              {"flow", request.flow.name},
              {"subject", request.subject},
              {"arguments", request.arguments.is_null() ? Json::object() : request.arguments},
              {"made", iso_time(request.made, true)}})
      .pretty();
}

Result<Request> parse_request(std::string_view text, const std::string& id) {
  const auto parsed = parse_json(text);
  if (!parsed)
    return tl::unexpected(parsed.error());
  const Value& value = **parsed;
  if (json::text(value, "id") != id)
    return fail(Errc::schema, "id is not the name of the file", "#/id");
  const auto string = [&value](std::string_view name) {
    return std::string(json::text(value, name).value_or(""));
  };
  Request request{.id = id,
                  .verb = string("verb"),
                  .flow = {.dialect = string("dialect"), .name = string("flow")},
                  .subject = string("subject"),
                  .arguments = Json::object(),
                  .by = {},  // who asks is no word of the file
                  .agent = {},
                  .made = parse_time(string("made")).value_or(Time{})};
  if (!safe_name(request.verb))
    return fail(Errc::schema, "has no verb", "#/verb");
  if (const Value* arguments = json::child(value, "arguments"); arguments != nullptr) {
    if (!arguments->IsObject())
      return fail(Errc::schema, "arguments are no object", "#/arguments");
    request.arguments = Json(*arguments);
  }
  return request;
}

/// A complete file under a temporary name.
struct CompleteFile {
  Fd folder;
  std::string part;
  std::string name;
  std::string temporary;
  Fd file;
};

/// Opens or creates a folder in the state folder.
Result<Fd> make_part(int state, const std::string& part) {
  auto there = open_part(state, part);
  if (there)
    return there;
  auto made = make_folders(state, part, kPrivate);
  if (made)
    if (auto settled = set_mode(made->get(), kPrivate, part); !settled)
      return pass_on(settled);
  return made;
}

Result<CompleteFile> write_complete(int state, const std::string& part, const std::string& name,
                                    std::string_view text) {
  constexpr mode_t kFileMode = 0640;
  const std::string where = part + "/" + name;
  auto folder = make_part(state, part);
  if (!folder)
    return pass_on(folder);
  auto fresh = write_temporary(folder->get(), name, text, -1, where);
  if (!fresh)
    return pass_on(fresh);
  if (fchmod(fresh->fd.get(), kFileMode) != 0) {
    auto error = system_error(errno, "mode cannot be set", where);
    unlinkat(folder->get(), fresh->name.c_str(), 0);
    return error;
  }
  return CompleteFile{std::move(*folder), part, name, fresh->name, std::move(fresh->fd)};
}

Result<void> put_in_place(const CompleteFile& laid) {
  const int folder = laid.folder.get();
  if (renameat(folder, laid.temporary.c_str(), folder, laid.name.c_str()) == 0)
    return {};
  auto error = system_error(errno, "cannot be put in place", laid.part + "/" + laid.name);
  unlinkat(folder, laid.temporary.c_str(), 0);
  return error;
}

Result<void> publish(int state, const std::string& part, const std::string& name,
                     std::string_view text) {
  auto laid = write_complete(state, part, name, text);
  if (!laid)
    return pass_on(laid);
  if (auto placed = put_in_place(*laid); !placed)
    return placed;
  return sync(laid->folder.get(), part);
}

/// The file system may keep some of the free space for root, and some of it from every process.
std::uint64_t bytes_left(const struct statvfs& room) {
  const std::uint64_t all = room.f_bfree * room.f_frsize;
  return geteuid() == 0 && all > kUnusableBytes ? all : room.f_bavail * room.f_frsize;
}

/// Creates the reserve file if it is missing or smaller than it should be, and there is room.
/// Returns false when the disk is full and not too small for a reserve.
bool ensure_reserve(int state) {
  const auto folder = open_part(state, "requests");
  struct stat there {};
  struct statvfs room {};
  if (!folder)
    return true;
  const bool some = fstatat(folder->get(), kReserve, &there, AT_SYMLINK_NOFOLLOW) == 0;
  if ((some && there.st_size >= static_cast<off_t>(kReserveBytes)) ||
      fstatvfs(folder->get(), &room) != 0)
    return true;
  const bool small = room.f_blocks * room.f_frsize < kSmallDisk;
  if (bytes_left(room) < kAmpleBytes || (room.f_files != 0 && room.f_favail < kRoomyFiles))
    return small;
  if (some)
    unlinkat(folder->get(), kReserve, 0);
  constexpr mode_t kFileMode = 0640;
  const Fd fd(openat(folder->get(), kReserve, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode));
  const bool made = fd && write_all(fd.get(), std::string(kReserveBytes, ' '), kReserve);
  if (fd && !made)
    unlinkat(folder->get(), kReserve, 0);
  return made || small;
}

/// A journaling file system reports space as free a moment before others can use it.
void await_space(int fd) {
  fsync(fd);
  std::this_thread::sleep_for(kRoomAppears);
}

bool give_up_reserve(int state) {
  const auto folder = open_part(state, "requests");
  if (!folder || unlinkat(folder->get(), kReserve, 0) != 0)
    return false;
  await_space(folder->get());
  return true;
}

/// Removes an old answer to make room for one file. Used when not even an empty file fits; the
/// command has read that answer by now.
bool remove_old_reply(int state) {
  const auto replies = list_folder(state, "replies");
  if (!replies)
    return false;
  const std::time_t read = std::time(nullptr) - kReplyRead;
  return std::any_of(
      replies->names.files.begin(), replies->names.files.end(), [&](const std::string& name) {
        struct stat info {};
        return fstatat(replies->fd.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
               info.st_mtime < read && unlinkat(replies->fd.get(), name.c_str(), 0) == 0;
      });
}

/// Turns the file of a request into the answer to it. False: it is there no more, or is still that
/// of a request.
bool become_answer(int state, const std::string& name, std::string_view text) {
  const auto requests = open_part(state, "requests");
  const auto replies = open_part(state, "replies");
  if (!requests || !replies)
    return false;
  // Nobody reads it under the name of the request: the daemon alone does, and it has answered it.
  const auto file = open_regular(requests->get(), name, O_WRONLY);
  return file && ftruncate(file->get(), 0) == 0 && write_all(file->get(), text, name) &&
         renameat(requests->get(), name.c_str(), replies->get(), name.c_str()) == 0;
}

bool is_low_on_space(int state) {
  struct statvfs room {};
  return fstatvfs(state, &room) == 0 && bytes_left(room) < kAnswerBytes;
}

std::string user_name(uid_t uid) {
  const passwd* const user = getpwuid(uid);  // NOLINT(concurrency-mt-unsafe): one thread
  return user != nullptr && user->pw_name != nullptr ? std::string(user->pw_name)
                                                     : "user " + std::to_string(uid);
}

struct StateFolder {
  Fd fd;
  std::string path;
};

// A user who may write into `requests` must still not send a request in the name of another user.
Result<Request> load(const StateFolder& state, int folder, const std::string& name) {
  const auto fd = open_regular(folder, name, O_RDONLY);
  if (!fd)
    return tl::unexpected(fd.error());
  struct stat file {};
  struct stat owner {};
  if (fstat(fd->get(), &file) != 0 || fstat(state.fd.get(), &owner) != 0)
    return system_error(errno, "cannot be looked at", name);
  if (file.st_uid != 0 && file.st_uid != owner.st_uid && file.st_uid != geteuid())
    return fail(Errc::denied, "was filed by user " + std::to_string(file.st_uid), name);
  const auto text = read_all(fd->get(), kMaxRequestBytes, name);
  if (!text)
    return tl::unexpected(text.error());
  const std::string id = name.substr(0, name.size() - kSuffix.size());
  if (!safe_name(id))
    return fail(Errc::schema, "is not the name of a request", name);
  auto request = parse_request(*text, id);
  if (!request)
    return request;
  request->by = user_name(file.st_uid);
  const std::int64_t holder = posix_lock_holder(fd->get());
  request->asker = holder == 0 ? Asker{Asker::Kind::nobody, {}} : asker_of(holder, state.path);
  return request;
}

bool names_request(const std::string& file) {
  return file.ends_with(kSuffix) && !file.starts_with('.');
}

/// Returns the requests that can be read, oldest first, and reports the others to `other`.
std::vector<Request> load_all(
    const StateFolder& state,
    const std::function<void(int folder, const std::string& name, const Error&)>& other) {
  std::vector<Request> requests;
  auto folder = list_folder(state.fd.get(), "requests");
  if (!folder)
    return requests;
  std::sort(folder->names.files.begin(), folder->names.files.end());
  for (const std::string& name : folder->names.files) {
    if (!names_request(name))
      continue;
    auto request = load(state, folder->fd.get(), name);
    if (request)
      requests.push_back(std::move(*request));
    else
      other(folder->fd.get(), name, request.error());
  }
  return requests;
}

class RealRequests final : public Requests {
 public:
  explicit RealRequests(StateFolder state) : state_(std::move(state)) {}
  std::vector<Request> pending(std::vector<std::string>& damaged) override;
  void answer(const Reply& reply) override;
  bool keep_room() override { return ensure_reserve(state_.fd.get()); }

 private:
  void prune();
  StateFolder state_;
  std::time_t pruned_ = 0;
};

std::vector<Request> RealRequests::pending(std::vector<std::string>& damaged) {
  auto requests = load_all(state_, [&](int folder, const std::string& name, const Error& error) {
    // The request is gone, or nothing can be read now; this says nothing about the request.
    if (error.code == Errc::not_found || error.code == Errc::busy || error.code == Errc::io)
      return;
    damaged.push_back("request " + printable(name, 255) + ": " + error.message);
    unlinkat(folder, name.c_str(), 0);
  });
  if (!requests.empty() && is_low_on_space(state_.fd.get()))
    give_up_reserve(state_.fd.get());
  return requests;
}

void RealRequests::answer(const Reply& reply) {
  if (!safe_name(reply.request))
    return;
  const std::string name = reply.request + std::string(kSuffix);
  const std::string text =
      Json::object(
          {{"request", reply.request}, {"accepted", reply.accepted}, {"message", reply.message}})
          .pretty();
  const auto remove = [&] {
    if (const auto folder = open_part(state_.fd.get(), "requests"))
      unlinkat(folder->get(), name.c_str(), 0);
  };
  auto done = publish(state_.fd.get(), "replies", name, text);
  // The answer is in the journal already, whose transaction often takes the last space. The file of
  // the request becomes that of the answer: removing it would give no room, because the command
  // that waits keeps it open.
  if (!done && done.error().code == Errc::no_space && become_answer(state_.fd.get(), name, text))
    return prune();
  if (!done && done.error().code == Errc::no_space) {
    remove();
    done = publish(state_.fd.get(), "replies", name, text);
  }
  // A request without an answer file stays; the next daemon answers it again.
  if (!done)
    return;
  remove();
  prune();
}

void RealRequests::prune() {
  const std::time_t now = std::time(nullptr);
  if (now >= pruned_ && now - pruned_ < kPruneEvery)
    return;
  pruned_ = now;
  for (const std::string part : {"replies", "requests"}) {
    const auto folder = list_folder(state_.fd.get(), part);
    if (!folder)
      continue;
    for (const std::string& name : folder->names.files) {
      struct stat info {};
      const bool removable = part == "replies" || is_temporary_name(name);
      if (removable && fstatat(folder->fd.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
          now - info.st_mtime > kReplyAge)
        unlinkat(folder->fd.get(), name.c_str(), 0);
    }
  }
}

std::optional<Reply> read_reply(int state, const std::string& id) {
  const auto fd = open_regular(state, "replies/" + id + std::string(kSuffix), O_RDONLY);
  const auto text = fd ? read_all(fd->get(), kMaxRequestBytes, id)
                       : Result<std::string>(tl::unexpected(fd.error()));
  const auto value = text ? parse_json(*text) : Result<Json>(tl::unexpected(text.error()));
  if (!value)
    return {};
  return Reply{.request = id,
               .accepted = json::boolean(**value, "accepted").value_or(false),
               .message = std::string(json::text(**value, "message").value_or(""))};
}

std::string new_id(Time made) {
  std::string id = iso_time(made, true);
  std::erase_if(id, [](char c) { return c == ':' || c == '-'; });
  return id + "-" + random_hex(8);
}

/// Without locks on this file system the daemon cannot see who asks; then it says so.
void lock_posix(int fd) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  (void)fcntl(fd, F_SETLK, &lock);
}

/// The file is locked before it has the name of a request.
Result<CompleteFile> lay_request(const std::string& state_folder, const Request& request) {
  auto state = open_folder(state_folder);
  if (!state)
    return pass_on(state);
  if (!safe_name(request.id))
    return fail(Errc::usage, "is not the name of a request", printable(request.id));
  const std::string name = request.id + std::string(kSuffix);
  const std::string text = request_text(request);
  auto laid = write_complete(state->get(), "requests", name, text);
  // The space that the previous command used comes back when its answer is read.
  const auto until = std::chrono::steady_clock::now() + kAnswerIsRead;
  while (!laid && laid.error().code == Errc::no_space && std::chrono::steady_clock::now() < until) {
    if (give_up_reserve(state->get()) || remove_old_reply(state->get()))
      laid = write_complete(state->get(), "requests", name, text);
    else
      std::this_thread::sleep_for(kRoomAppears);
  }
  if (laid)
    lock_posix(laid->file.get());
  return laid;
}

}  // namespace

Result<std::unique_ptr<Requests>> real_requests(const std::string& state_folder) {
  auto state = open_folder(state_folder);
  if (!state)
    return pass_on(state);
  for (const std::string part : {"requests", "replies"}) {
    if (auto made = make_part(state->get(), part); !made)
      return pass_on(made);
  }
  ensure_reserve(state->get());
  return std::make_unique<RealRequests>(StateFolder{std::move(*state), state_folder});
}

bool release_reserve(const std::string& state_folder) {
  const auto state = open_folder(state_folder);
  if (!state)
    return false;
  const auto fd = open_regular(state->get(), std::string("requests/") + kReserve, O_WRONLY);
  struct stat info {};
  if (!fd || fstat(fd->get(), &info) != 0 || info.st_size < kJournalBytes ||
      ftruncate(fd->get(), info.st_size - kJournalBytes) != 0)
    return false;
  await_space(fd->get());
  return true;
}

Result<PostedRequest> post_request(const std::string& state_folder, Request request) {
  return std::move(post_requests({state_folder}, std::move(request)).front());
}

std::vector<Result<PostedRequest>> post_requests(const std::vector<std::string>& state_folders,
                                                 Request request) {
  if (request.made == Time{})
    request.made = std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
  if (request.id.empty())
    request.id = new_id(request.made);
  std::vector<Result<CompleteFile>> laid;
  laid.reserve(state_folders.size());
  for (const std::string& folder : state_folders)
    laid.push_back(lay_request(folder, request));
  // Prepare all files first, so that all requests appear before any daemon has dealt with one.
  std::vector<Result<PostedRequest>> posted;
  for (auto& each : laid) {
    auto placed = each ? put_in_place(*each) : Result<void>(pass_on(each));
    posted.push_back(placed ? Result<PostedRequest>({request.id, std::move(each->file)})
                            : pass_on(placed));
  }
  for (std::size_t i = 0; i < laid.size(); ++i)
    if (posted[i])
      if (auto synced = sync(laid[i]->folder.get(), laid[i]->part); !synced)
        posted[i] = pass_on(synced);
  return posted;
}

Result<std::vector<std::string>> filed_requests(const std::string& state_folder) {
  auto state = open_folder(state_folder);
  auto folder = state ? list_folder(state->get(), "requests") : pass_on(state);
  std::vector<std::string> ids;
  if (!folder && state && folder.error().code == Errc::not_found)
    return ids;
  if (!folder)
    return pass_on(folder);
  for (const std::string& name : folder->names.files)
    if (names_request(name))
      ids.push_back(name.substr(0, name.size() - kSuffix.size()));
  return ids;
}

std::vector<Request> recorded_requests(const std::string& state_folder) {
  auto state = open_folder(state_folder);
  if (!state)
    return {};
  return load_all(StateFolder{std::move(*state), state_folder},
                  [](int, const std::string&, const Error&) {});
}

std::optional<Reply> await_reply(const std::string& state_folder, const std::string& id,
                                 Millis timeout) {
  const auto state = open_folder(state_folder);
  if (!state || !safe_name(id))
    return {};
  const auto until = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    if (auto reply = read_reply(state->get(), id))
      return reply;
    if (std::chrono::steady_clock::now() >= until)
      return {};
    std::this_thread::sleep_for(kNap);
  }
}

}  // namespace baton
