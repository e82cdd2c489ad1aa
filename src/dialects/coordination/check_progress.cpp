#include <array>

#include "dialects/coordination/check.h"
#include "dialects/coordination/folder.h"

namespace baton::coordination {
namespace {

/// How far something is, in the words of the project manager.
constexpr std::string_view kPending = "pending";
constexpr std::string_view kInProgress = "in_progress";
constexpr std::string_view kComplete = "complete";

struct ListRow {
  std::string_view list;
  std::string_view says;
};
constexpr std::array kLists = {
    ListRow{"completed_groups", kComplete},
    ListRow{"in_progress_groups", kInProgress},
    ListRow{"pending_groups", kPending},
};

std::string_view progress(Status status) {
  if (status == Status::pending)
    return kPending;
  return status == Status::complete ? kComplete : kInProgress;
}

class Comparison {
 public:
  Comparison(const Plan& plan, const Value& pm) : plan_(plan), pm_(pm) {}

  Findings found() && {
    groups();
    for (const ListRow& row : kLists)
      listed(pm_, "", row.list, row.says);
    phases();
    tasks();
    return std::move(findings_);
  }

 private:
  /// Nothing is said of a group that nobody has begun with: it needs no entry.
  const Group* known(std::string_view id) const {
    const Group* const group = plan_.find(id);
    return group == nullptr || group->entry == nullptr ? nullptr : group;
  }

  void unlike(const Group& group, const std::string& pointer) {
    findings_.push_back(finding(Severity::warning, "S4", pointer,
                                "`" + group.id + "` is " + std::string(word(group.status)) +
                                    " in group_status, which counts"));
  }

  void groups() {
    std::size_t n = 0;
    for (const Value* const task : items(pm_, "task_groups")) {
      const std::string pointer = "/task_groups/" + std::to_string(n++) + "/status";
      const Group* const group = known(text_of(*task, "id"));
      const auto said = word_of(*task, "status");
      if (group != nullptr && said &&
          (*said == "assigned" ? kPending : *said) != progress(group->status))
        unlike(*group, pointer);
    }
  }

  void listed(const Value& holder, const std::string& pointer, std::string_view list,
              std::string_view says) {
    std::size_t n = 0;
    for (const std::string& id : texts(holder, list)) {
      const std::string place = pointer + "/" + std::string(list) + "/" + std::to_string(n++);
      if (const Group* const group = known(id); group != nullptr && progress(group->status) != says)
        unlike(*group, place);
    }
  }

  /// A phase in progress may have groups of all kinds.
  void phases() {
    std::size_t n = 0;
    for (const Value* const phase : items(pm_, "execution_phases")) {
      const std::string pointer = "/execution_phases/" + std::to_string(n++);
      const auto said = word_of(*phase, "status");
      if (said && *said != kInProgress)
        listed(*phase, pointer, "group_ids", *said);
    }
  }

  /// A task is behind its group at most when that is complete, and ahead when that has not begun.
  void tasks() {
    std::size_t n = 0;
    for (const Value* const task : items(pm_, "all_tasks")) {
      const std::string pointer = "/all_tasks/" + std::to_string(n++) + "/status";
      const Group* const group = known(text_of(*task, "group_id"));
      const auto said = word_of(*task, "status");
      if (group == nullptr || !said || progress(group->status) == kInProgress)
        continue;
      if (*said != progress(group->status))
        unlike(*group, pointer);
    }
  }

  const Plan& plan_;
  const Value& pm_;
  Findings findings_;
};

}  // namespace

Findings check_progress(const Plan& plan, const Value& pm) {
  return Comparison(plan, pm).found();
}

}  // namespace baton::coordination
