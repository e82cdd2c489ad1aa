// SPDX-License-Identifier: Apache-2.0
#include "engine/intake/log_reader.h"

#include <algorithm>
#include <utility>

#include "base/json/parse.h"
#include "base/text.h"
#include "core/ignored_names.h"

namespace baton {
namespace {

/// Most lines are short. A longer one is read with more at once.
constexpr std::size_t kBlock = 4U << 10U;
constexpr std::size_t kLargeBlock = 64U << 10U;
/// How much of a log is read at first sight, from its end. Its last line lies in there.
constexpr std::size_t kFirstLookBytes = 2 * kLongestLine;
/// How much one call reads at most.
constexpr std::size_t kMostRead = 16U << 20U;
/// Up to here the lines are counted when the number of one is needed.
constexpr std::uint64_t kMostCounted = 64U << 20U;
constexpr std::size_t kMark = 1024;
constexpr std::size_t kMostFaults = 20;
constexpr std::size_t kFaultsKept = 3;

/// A program that does not notice that its log was cut off leaves zeros in front of its next line.
constexpr std::string_view kBlanks(" \t\r\n\0", 5);

tl::unexpected<Error> log_replaced(const std::string& name) {
  return fail(Errc::busy, "another file has taken its place while it was read", name);
}

/// Reads a file on from a position, block by block.
class LogCursor {
 public:
  /// `before`: the bytes in front of the position, as far as they are known.
  LogCursor(Disk& disk, const std::string& name, LogPosition from, std::string before)
      : at(std::move(from)), disk_(disk), name_(name), before_(std::move(before)) {}

  /// What follows; at least `want` bytes if the file has them.
  Result<std::string_view> ahead(std::size_t want) {
    if (buffer_.size() - used_ < want && !end_) {
      const std::size_t asked = want + kBlock;
      auto bytes = read(at.offset, asked);
      if (!bytes)
        return pass_on(bytes);
      end_ = bytes->size() < asked;
      read_ += bytes->size();
      buffer_ = *std::move(bytes);
      used_ = 0;
    }
    return std::string_view(buffer_).substr(used_);
  }
  void pass(std::size_t count) {
    const std::string_view passed = std::string_view(buffer_).substr(used_, count);
    if (at.line != 0)
      at.line += static_cast<std::uint64_t>(std::count(passed.begin(), passed.end(), '\n'));
    at.offset += passed.size();
    before_.append(passed.substr(passed.size() - std::min(passed.size(), kMark)));
    before_.erase(0, before_.size() - std::min(before_.size(), kMark));
    used_ += passed.size();
  }
  bool is_tired() const { return read_ > kMostRead; }

  /// Where the position is, for people.
  Result<std::string> where() {
    if (at.line == 0 && at.offset <= kMostCounted)
      if (auto counted = count_lines(); !counted)
        return pass_on(counted);
    return at.line == 0 ? "byte " + std::to_string(at.offset) : "line " + std::to_string(at.line);
  }

  /// The position with its digests.
  Result<LogPosition> position() {
    at.mark_bytes = static_cast<std::uint32_t>(before_.size());
    at.mark = digest_of(before_);
    if (at.head_bytes == 0 && at.offset > 0) {
      auto begin = read(0, std::min<std::uint64_t>(at.offset, kMark));
      if (!begin)
        return pass_on(begin);
      begin->resize(std::min(begin->find('\n'), begin->size() - 1) + 1);
      at.head_bytes = static_cast<std::uint32_t>(begin->size());
      at.head = digest_of(*begin);
    }
    return at;
  }

  LogPosition at;

 private:
  Result<std::string> read(std::uint64_t first, std::size_t count) {
    auto file = disk_.read_from(name_, first, count);
    if (!file)
      return pass_on(file);
    if (at.file != 0 && file->identity != 0 && at.file != file->identity)
      return log_replaced(name_);
    return std::move(file->bytes);
  }
  Result<void> count_lines() {
    std::uint64_t line = 1;
    for (std::uint64_t from = 0; from < at.offset;) {
      auto bytes = read(from, std::min<std::uint64_t>(kLongestLine, at.offset - from));
      if (!bytes)
        return pass_on(bytes);
      if (bytes->empty())
        return log_replaced(name_);
      line += static_cast<std::uint64_t>(std::count(bytes->begin(), bytes->end(), '\n'));
      from += bytes->size();
    }
    at.line = line;
    return {};
  }

  Disk& disk_;
  const std::string& name_;
  std::string before_;
  std::string buffer_;  ///< from `at.offset` on, without its first `used_` bytes
  std::size_t used_ = 0;
  std::size_t read_ = 0;
  bool end_ = false;
};

Result<void> add_fault(LogCursor& cursor, std::string why, LogStep& step) {
  auto where = cursor.where();
  if (!where)
    return pass_on(where);
  LogFault fault{*std::move(where), std::move(why)};
  ++step.fault_count;
  ++cursor.at.faults;
  std::vector<LogFault>& kept = cursor.at.last_faults;
  kept.push_back(fault);
  if (kept.size() > kFaultsKept)
    kept.erase(kept.begin());
  if (step.faults.size() < kMostFaults)
    step.faults.push_back(std::move(fault));
  step.clean_end = false;
  return {};
}

std::string why_unreadable(const ParseFault& fault) {
  return fault.incomplete ? "it is cut off" : printable(fault.message, 300);
}

/// The value at the begin of a line.
tl::expected<std::size_t, ParseFault> value_end(std::string_view line, bool whole,
                                                const LoadLimits& limits) {
  if (const auto bad = bad_utf8(line))
    return tl::unexpected(utf8_fault(line, *bad));
  auto parsed = parse_value(line, 0, limits);
  if (!parsed)
    return tl::unexpected(std::move(parsed.error()));
  // Without its end a number or a word may still grow.
  if (!whole && !parsed->value->IsObject() && !parsed->value->IsArray()) {
    ParseFault unfinished;
    unfinished.incomplete = true;
    return tl::unexpected(std::move(unfinished));
  }
  return parsed->end;
}

/// Reads on to the next record, or with `all` to the last one.
Result<void> scan_log(LogCursor& cursor, const LoadLimits& limits, bool all, LogStep& step) {
  for (;;) {
    step.more = cursor.is_tired();
    if (step.more)
      return {};
    auto ahead = cursor.ahead(all && !step.record ? kLargeBlock : 1);
    if (!ahead)
      return pass_on(ahead);
    if (ahead->empty())
      return {};
    if (cursor.at.in_long_line) {
      const auto end = ahead->find('\n');
      cursor.at.in_long_line = end == std::string_view::npos;
      cursor.pass(std::min(end, ahead->size() - 1) + 1);
      continue;
    }
    const bool mark = cursor.at.offset == 0 && ahead->starts_with(kByteOrderMark);
    const std::size_t blanks = mark ? kByteOrderMark.size() : ahead->find_first_not_of(kBlanks);
    if (blanks != 0) {
      cursor.pass(std::min(blanks, ahead->size()));
      continue;
    }
    if (step.record && !all) {
      step.more = true;
      return {};
    }
    auto newline = ahead->find('\n');
    if (newline == std::string_view::npos) {
      for (const std::size_t more : {kLargeBlock, kLongestLine + 1}) {
        if (newline != std::string_view::npos)
          break;
        ahead = cursor.ahead(more);
        if (!ahead)
          return pass_on(ahead);
        newline = ahead->find('\n');
      }
    }
    const bool whole = newline != std::string_view::npos;
    const std::string_view line = ahead->substr(0, newline);
    if (line.size() > kLongestLine) {
      if (auto added = add_fault(cursor, "it is longer than 1 MiB", step); !added)
        return added;
      cursor.at.in_long_line = !whole;
      cursor.pass(line.size() + (whole ? 1 : 0));
      continue;
    }
    const auto end = value_end(line, whole, limits);
    if (end) {
      auto where = cursor.where();
      if (!where)
        return pass_on(where);
      if (step.record)
        ++step.passed;
      step.record = line.substr(0, *end);
      cursor.at.tail.push_back(digest_of(*step.record));
      if (cursor.at.tail.size() > kTailRecords)
        cursor.at.tail.erase(cursor.at.tail.begin());
      step.where = *std::move(where);
      step.clean_end = true;
      cursor.pass(*end);
      continue;
    }
    if (!whole) {
      step.clean_end = false;
      return {};
    }
    if (auto added = add_fault(cursor, why_unreadable(end.error()), step); !added)
      return added;
    cursor.pass(line.size() + 1);
  }
}

/// Whether the last records of a file are the `sought` ones, or all that the file has if it has
/// fewer. Records that were refused may have been corrected.
bool ends_alike(const LogPosition& there, bool from_begin, const std::vector<Digest>& sought) {
  const std::size_t count = std::min(there.tail.size(), sought.size());
  const auto first = [&](const std::vector<Digest>& all) {
    return all.end() - static_cast<std::ptrdiff_t>(count);
  };
  return count > 0 && (from_begin || count == sought.size()) &&
         std::equal(first(sought), sought.end(), first(there.tail),
                    [](const Digest& one, const Digest& other) {
                      return one == kRefused || one == other;
                    });
}

/// Without the last ones if these were refused.
std::vector<Digest> taken_records(std::vector<Digest> records) {
  while (!records.empty() && records.back() == kRefused)
    records.pop_back();
  return records;
}

bool has_repeats(std::vector<Digest> records) {
  std::erase(records, kRefused);
  std::sort(records.begin(), records.end());
  return std::adjacent_find(records.begin(), records.end()) != records.end();
}

std::string log_folder(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

Result<LogReader::Probe> LogReader::probe(const std::string& name, const LogPosition& at) {
  auto mark = disk_.read_from(name, at.offset - at.mark_bytes, at.mark_bytes);
  if (!mark)
    return pass_on(mark);
  Probe probe;
  probe.file = *std::move(mark);
  auto head = disk_.read_from(name, 0, at.head_bytes);
  if (!head)
    return pass_on(head);
  probe.same_head = at.head_bytes == 0 || head->digest == at.head;
  probe.goes_on = probe.file.size_bytes >= at.offset && probe.same_head &&
                  (at.mark_bytes == 0 || probe.file.digest == at.mark);
  return probe;
}

Result<LogStep> LogReader::read(const std::string& name, LogPosition at, std::string before,
                                bool all) {
  LogStep step;
  LogCursor cursor(disk_, name, std::move(at), std::move(before));
  if (auto done = scan_log(cursor, limits_, all, step); !done)
    return pass_on(done);
  auto position = cursor.position();
  if (!position)
    return pass_on(position);
  step.at = *std::move(position);
  return step;
}

Result<LogStep> LogReader::first(const std::string& path) {
  auto file = disk_.read_from(path, 0, 0);
  if (!file)
    return pass_on(file);
  LogPosition at;
  at.file = file->identity;
  if (file->size_bytes > kFirstLookBytes) {
    at.offset = file->size_bytes - kFirstLookBytes;
    at.line = 0;
    at.in_long_line = true;
  }
  return read(path, std::move(at), {}, true);
}

Result<std::optional<LogPosition>> LogReader::behind(const std::string& path,
                                                     std::uint64_t size_bytes,
                                                     const Digest& digest) {
  auto file = disk_.read_from(path, 0, static_cast<std::size_t>(size_bytes));
  if (!file)
    return pass_on(file);
  if (file->digest != digest || file->bytes.empty())
    return std::optional<LogPosition>();
  LogPosition at;
  at.file = file->identity;
  LogCursor cursor(disk_, path, std::move(at), {});
  if (auto all = cursor.ahead(file->bytes.size()); !all)
    return pass_on(all);
  // A last line without its end may have been read, too; then it has to be a whole value.
  const auto newline = file->bytes.rfind('\n');
  const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
  const std::string_view last = std::string_view(file->bytes).substr(begin);
  const auto end = value_end(last, false, limits_);
  cursor.pass(begin + (end ? *end : 0));
  auto position = cursor.position();
  if (!position)
    return pass_on(position);
  return std::optional(*std::move(position));
}

Result<std::vector<std::string>> LogReader::names_beside(const std::string& path) {
  auto entries = disk_.list(log_folder(path), 0);
  if (!entries)
    return pass_on(entries);
  const std::string name = last_part(path);
  const std::string stem = name.substr(0, name.rfind('.'));
  std::vector<std::string> names;
  for (const FileEntry& entry : *entries) {
    const std::string other = last_part(entry.path);
    const bool related = other.starts_with(name) || other.starts_with(stem + ".") ||
                         other.starts_with(stem + "-") || other.starts_with(stem + "_");
    if (entry.folder || entry.path == path || !related)
      continue;
    // A backup of an editor is no rotated log.
    const auto sign = ignored_name({}, "{flow}", other, other, "");
    if (!sign || !sign->beside.empty())
      names.push_back(entry.path);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::optional<std::string>> LogReader::find_former(const std::string& path,
                                                          const LogPosition& at, bool by_content) {
  auto names = names_beside(path);
  if (!names)
    return pass_on(names);
  for (const std::string& name : *names) {
    const auto found = probe(name, at);
    if (found && found->goes_on &&
        (by_content || (at.file != 0 && found->file.identity == at.file)))
      return std::optional(name);
  }
  return std::optional<std::string>();
}

Result<LogReader::Remains> LogReader::remains_of(const std::string& path, const LogPosition& at,
                                                 const FileBytes& here) {
  LogPosition from;
  from.file = here.identity;
  if (here.size_bytes > kMostRead) {
    from.offset = here.size_bytes - kMostRead;
    from.line = 0;
    from.in_long_line = true;
  }
  const bool from_begin = from.offset == 0;
  const std::vector<Digest> sought = taken_records(at.tail);
  LogCursor cursor(disk_, path, std::move(from), {});
  Remains remains;
  std::size_t count = 0;
  for (bool more = true; more;) {
    LogStep step;
    if (auto done = scan_log(cursor, limits_, false, step); !done)
      return pass_on(done);
    more = step.record && step.more;
    if (!step.record)
      continue;
    ++count;
    remains.any = remains.any ||
                  std::find(sought.begin(), sought.end(), cursor.at.tail.back()) != sought.end();
    if (!ends_alike(cursor.at, from_begin, sought))
      continue;
    auto position = cursor.position();
    if (!position)
      return pass_on(position);
    ++remains.places;
    remains.all = cursor.at.tail.size() == kTailRecords && sought.size() >= kTailRecords;
    remains.trimmed = remains.trimmed || remains.all || (from_begin && count <= sought.size());
    remains.place = *std::move(position);
  }
  return remains;
}

Result<bool> LogReader::has_rest(const std::string& path, const LogPosition& at) {
  if (at.file == 0)
    return false;
  auto former = find_former(path, at, false);
  if (!former)
    return pass_on(former);
  if (!*former)
    return false;
  const auto file = disk_.read_from(**former, 0, 0);
  return file && file->size_bytes > at.offset;
}

/// The newest file beside the log, if it has the record that was read last. Somebody has edited the
/// log before it was rotated, or has kept a copy of it. Empty: it has not.
Result<std::string> LogReader::edited_former(const std::string& path, const LogPosition& at) {
  auto names = names_beside(path);
  if (!names)
    return pass_on(names);
  std::string newest;
  FileBytes file;
  for (const std::string& name : *names)
    if (auto found = disk_.read_from(name, 0, 0);
        found && (newest.empty() || found->changed > file.changed)) {
      newest = name;
      file = *std::move(found);
    }
  if (newest.empty())
    return newest;
  auto remains = remains_of(newest, at, file);
  if (!remains)
    return pass_on(remains);
  return remains->trimmed ? newest : std::string();
}

/// The file that was begun after `former`, by the names that logrotate gives: `log.jsonl.2` comes
/// before `log.jsonl.1`, and `log.jsonl-20260101` before `log.jsonl-20260102`. Empty: `path`
/// itself.
Result<std::string> LogReader::successor(const std::string& path, const std::string& former) {
  auto names = names_beside(path);
  if (!names)
    return pass_on(names);
  const auto digits = former.find_last_not_of("0123456789") + 1;
  const std::string base = former.substr(0, digits);
  const std::string number = former.substr(digits);
  if (number.empty() || number.size() > 18)
    return std::string();
  if (number.size() < 6) {
    const std::string next = base + std::to_string(std::stoull(number) - 1);
    const bool there =
        number != "0" && std::find(names->begin(), names->end(), next) != names->end();
    return there ? next : std::string();
  }
  const auto next = std::find_if(names->begin(), names->end(), [&](const std::string& name) {
    return name > former && name.size() == former.size() && name.starts_with(base) &&
           all_digits(name.substr(digits));
  });
  return next == names->end() ? std::string() : *next;
}

Result<LogStep> LogReader::read_former(const std::string& path, const std::string& former,
                                       const LogPosition& at, const FileBytes& here, bool all) {
  auto there = probe(former, at);
  if (!there)
    return pass_on(there);
  LogPosition from = at;
  from.file = there->file.identity;
  auto step = read(former, std::move(from), std::move(there->file.bytes), all);
  if (!step)
    return step;
  step->beside = former;
  // Behind the former file comes the next one.
  step->more = step->more || step->record;
  if (step->more)
    return step;
  auto later = successor(path, former);
  if (!later)
    return pass_on(later);
  // Its writer may not have noticed yet that the log was rotated.
  if (later->empty() && here.size_bytes == 0)
    return step;
  LogPosition fresh;
  const std::string& name = later->empty() ? path : *later;
  auto file = disk_.read_from(name, 0, 0);
  if (!file)
    return pass_on(file);
  fresh.file = file->identity;
  LogStep before = *std::move(step);
  if (before.at.offset < there->file.size_bytes && !before.at.in_long_line) {
    ++before.fault_count;
    before.faults.push_back(
        {before.at.line == 0 ? "the last line" : "line " + std::to_string(before.at.line),
         "it is cut off at the end of " + printable(former, 200)});
  }
  step = read(name, std::move(fresh), {}, all);
  if (!step)
    return step;
  step->faults.insert(step->faults.begin(), before.faults.begin(), before.faults.end());
  step->fault_count += before.fault_count;
  step->note = "was rotated; all of " + printable(former, 200) + " was read";
  step->beside = *later;
  step->more = step->more || !later->empty();
  return step;
}

Result<LogStep> LogReader::next(const std::string& path, const LogPosition& at, bool all,
                                bool patient) {
  auto here = probe(path, at);
  // While there is no new file, the former one may have lines that were not read.
  if (!here && here.error().code == Errc::not_found && at.file != 0)
    here = Probe{};
  if (!here)
    return pass_on(here);
  const bool same_file = at.file == 0 || here->file.identity == 0 || here->file.identity == at.file;
  if (same_file && here->goes_on) {
    LogPosition from = at;
    if (from.file == 0)
      from.file = here->file.identity;
    return read(path, std::move(from), std::move(here->file.bytes), all);
  }
  Result<std::optional<std::string>> former = std::optional<std::string>();
  if (!same_file)
    former = find_former(path, at, false);
  if (!former)
    return pass_on(former);
  if (*former)
    return read_former(path, **former, at, here->file, all);
  if (here->goes_on) {
    // The file was replaced by one that goes on: an editor has written it.
    LogPosition from = at;
    from.file = here->file.identity;
    return read(path, std::move(from), std::move(here->file.bytes), all);
  }
  // A log that was copied and cut off does not begin like the copy, but for lines that say the
  // same.
  auto copy = find_former(path, at, true);
  if (!copy)
    return pass_on(copy);
  if (*copy && here->file.size_bytes == 0 && same_file)
    return read_former(path, **copy, at, here->file, all);
  if (!patient) {
    LogStep waits;
    waits.at = at;
    waits.unsettled = true;
    return waits;
  }
  if (!all)
    return next_of_other(path, at, *here, *copy);
  if (*copy && !here->same_head)
    return read_former(path, **copy, at, here->file, all);
  auto step = first(path);
  if (!step)
    return step;
  // The line before a broken one is not what the log says now.
  if (!step->clean_end)
    step->record.reset();
  step->note = "was edited, or begins anew; its last line counts";
  return step;
}

/// The next record of a log that does not go on and was not renamed. `copy`: a file beside it that
/// does go on.
Result<LogStep> LogReader::next_of_other(const std::string& path, const LogPosition& at,
                                         const Probe& here,
                                         const std::optional<std::string>& copy) {
  auto remains = remains_of(path, at, here.file);
  if (!remains)
    return pass_on(remains);
  const bool repeats = has_repeats(at.tail);
  if (remains->places == 1 && (!repeats || (remains->all && !copy))) {
    auto behind = probe(path, remains->place);
    if (!behind)
      return pass_on(behind);
    auto step = read(path, std::move(remains->place), std::move(behind->file.bytes), false);
    if (step)
      step->note = "was edited; it is read on behind the lines that were read last";
    return step;
  }
  // Lines may come back into a file that git has emptied.
  if (!copy && here.file.size_bytes == 0 && here.file.identity != at.file) {
    LogStep waits;
    waits.at = at;
    return waits;
  }
  if (copy && !here.same_head && remains->places == 0 && (repeats || !remains->any))
    return read_former(path, *copy, at, here.file, false);
  auto former = edited_former(path, at);
  if (!former)
    return pass_on(former);
  if (!copy && former->empty() &&
      (taken_records(at.tail).empty() || (!here.same_head && !remains->any))) {
    LogPosition fresh;
    fresh.file = here.file.identity;
    auto step = read(path, std::move(fresh), {}, false);
    if (step)
      step->note = std::string(here.file.size_bytes == 0 ? "was emptied" : "begins anew") +
                   "; the stage of the line that was read last stays until a line says another one";
    return step;
  }
  LogStep held;
  held.at = at;
  held.changed = !copy && !former->empty()
                     ? "what was read last stands in " + printable(*former, 200) +
                           ", which does not go on as it was read"
                 : remains->places > 0
                     ? "lines were removed or replaced, and lines that say the same stand there "
                       "more than once"
                     : "lines that were read have been changed or removed";
  return held;
}

}  // namespace baton
