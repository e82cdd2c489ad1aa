#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/machine.h"
#include "dialects/kinds.h"

namespace baton::fsm_loop {

namespace {

std::int64_t depth_of(const Value& line) {
  return json::integer(line, "depth").value_or(0);
}

bool enters(const Value& line) {
  return json::text(line, "event") == "state_enter" && depth_of(line) == 0;
}

/// The status for each `terminated_by`, also for the words of other programs.
struct RecordedEnd {
  std::string_view word;
  Status status;
};
constexpr std::array kEndings = {
    RecordedEnd{"terminal", Status::completed},
    RecordedEnd{"timeout", Status::timed_out},
    RecordedEnd{"max_iterations", Status::interrupted},
    RecordedEnd{"max_steps", Status::interrupted},
    RecordedEnd{"max_iterations_reached", Status::interrupted},
    RecordedEnd{"interrupted", Status::interrupted},
    RecordedEnd{"signal", Status::interrupted},
    RecordedEnd{"system_signal", Status::interrupted},
    RecordedEnd{"user_stopped", Status::user_stopped},
};

Status status_after(const Value& line) {
  const auto* const row =
      std::find_if(kEndings.begin(), kEndings.end(), [&](const RecordedEnd& each) {
        return each.word == json::text(line, "terminated_by").value_or("");
      });
  const bool failure = json::boolean(line, "failure_terminal").value_or(false);
  return row == kEndings.end() || failure ? Status::failed : row->status;
}

/// The details of an evaluation, without the members of the event itself.
Json details_of(const Value& line) {
  Json details(line);
  for (const char* const own : {"event", "ts", "type", "verdict", "seq", "default", "depth"})
    details.erase(own);
  return details;
}

class ProgressRebuilder {
 public:
  ProgressRebuilder(const Loop& loop, Record record) : loop_(loop) {
    now_.record = std::move(record);
  }

  Rebuilt over(const Value& lines) {
    const bool own = !now_.record.start.empty();
    const rapidjson::SizeType fresh = own ? behind_state(lines) : behind_entry(lines);
    for (rapidjson::SizeType i = entry_before(lines, fresh); i < lines.Size(); ++i)
      if (lines[i].IsObject())
        take(lines[i], i >= fresh);
    conclude();
    return std::move(now_);
  }

 private:
  /// The first line that is newer than the state file, by its number.
  rapidjson::SizeType behind_state(const Value& lines) const {
    rapidjson::SizeType i = lines.Size();
    while (i > 0 && json::integer(lines[i - 1], "seq").value_or(0) > now_.record.seq)
      --i;
    return i;
  }

  /// Other programs do not number their lines: the line after the last entry that the state has.
  rapidjson::SizeType behind_entry(const Value& lines) const {
    const auto began = parse_time(now_.record.started_at);
    for (rapidjson::SizeType i = lines.Size(); i > 0; --i) {
      const Value& line = lines[i - 1];
      if (!enters(line) || json::text(line, "state") != now_.record.current_state ||
          json::integer(line, "iteration") != now_.record.iteration)
        continue;
      const auto at = parse_time(text_of(line, "ts"));
      // Events of the run before.
      return began && at && *at < *began ? lines.Size() : i;
    }
    return lines.Size();
  }

  /// The beginning of the state entry that the state file is in.
  static rapidjson::SizeType entry_before(const Value& lines, rapidjson::SizeType fresh) {
    for (rapidjson::SizeType i = fresh; i > 0; --i)
      if (enters(lines[i - 1]))
        return i - 1;
    return fresh;
  }

  /// `fresh`: the line is newer than the state file.
  void take(const Value& line, bool fresh) {
    const std::string word = text_of(line, "event");
    if (fresh)
      now_.record.seq = json::integer(line, "seq").value_or(now_.record.seq);
    if (depth_of(line) > 0) {
      inside_ = inside_ || word == "action_complete";
      return;
    }
    if (word == "action_start") {
      forget();
      now_.action = text_of(line, "action");
    } else if (word == "action_output") {
      printed_.push_back(text_of(line, "line"));
    } else if (word == "action_complete") {
      ended(line, fresh);
    } else if (word == "rate_limit_waiting" || word == "api_error_retry" || word == "infra_retry") {
      again(fresh);
    } else if (word == "evaluate") {
      judged(line, fresh);
    } else if (word == "state_enter" || word == "route" || word == "retry_exhausted" ||
               word == "throttle_hard") {
      moves(word, line, fresh);
    } else if (fresh) {
      other(word, line);
    }
  }

  void forget() {
    now_.action.clear();
    now_.result.reset();
    now_.verdict.reset();
    printed_.clear();
    inside_ = false;
  }

  void ended(const Value& line, bool fresh) {
    ActionResult result;
    const auto code = json::integer(line, "exit_code");
    coded_ = code.has_value();
    result.exit_code = static_cast<int>(code.value_or(0));
    result.duration_ms = json::integer(line, "duration_ms").value_or(0);
    result.timeout_kind = text_of(line, "timeout_kind");
    result.error_output = text_of(line, "stderr_preview");
    result.output = text_of(line, "output_preview");
    const Value* const shown = json::child(line, "output_preview");
    // One UTF-8 character may be missing where the text was cut.
    constexpr std::size_t kSurelyWhole = kPreview - 4;
    whole_ = shown != nullptr && result.output.size() < kSurelyWhole;
    if (shown != nullptr && !whole_ && !printed_.empty() && printed_.size() < kMostLines) {
      result.output = join(printed_, "\n") + (result.output.ends_with('\n') ? "\n" : "");
      whole_ = true;
    }
    // An action that was not run can be run now.
    if (!text_of(line, "not_run").empty())
      return again(fresh);
    if (fresh) {
      now_.record.phase = Phase::action_done;
      capture(result);
    }
    now_.result = std::move(result);
  }

  void capture(const ActionResult& result) {
    const LoopState* const state = loop_.state(now_.record.current_state);
    if (state == nullptr || state->capture.empty())
      return;
    now_.record.captured.set(state->capture, capture_of(result));
    if (!whole_)
      lose("what the action of the state " + quoted_word(state->name) +
           " printed has to be captured, but the event file does not have all of it");
  }

  void lose(std::string why) {
    if (now_.lost.empty())
      now_.lost = std::move(why);
  }

  /// The action has to run again.
  void again(bool fresh) {
    now_.result.reset();
    printed_.clear();
    if (fresh)
      now_.record.phase = Phase::entered;
  }

  void judged(const Value& line, bool fresh) {
    Verdict verdict;
    verdict.name = text_of(line, "verdict");
    verdict.details = details_of(line);
    if (fresh) {
      inner_ended();
      now_.record.phase = Phase::evaluated;
      now_.record.last_result =
          Json::object({{"verdict", verdict.name}, {"details", verdict.details}});
    }
    now_.verdict = std::move(verdict);
  }

  /// What a loop inside the state captured is in no event.
  void inner_ended() {
    const LoopState* const state = loop_.state(now_.record.current_state);
    if (state != nullptr && !state->loop.empty() &&
        (!state->capture.empty() || (state->hands_back() && mentioned("captured." + state->name))))
      lose("what the loop in the state " + quoted_word(state->name) + " captured is in no file");
  }

  void moves(const std::string& word, const Value& line, bool fresh) {
    Record& record = now_.record;
    if (fresh && word == "state_enter") {
      record.current_state = text_of(line, "state");
      record.iteration = json::integer(line, "iteration").value_or(record.iteration + 1);
      record.passes = json::integer(line, "iteration_count").value_or(record.passes);
      record.cycle += record.current_state == loop_.initial ? 1 : 0;
      const LoopState* const state = loop_.state(record.current_state);
      if (state != nullptr && state->throttle)
        ++record.entries[state->name];
      record.phase = Phase::entered;
    } else if (fresh && word == "route") {
      const std::string from = text_of(line, "from");
      const std::string to = text_of(line, "to");
      // With `next` there is no verdict.
      if (inside_ && !now_.verdict)
        inner_ended();
      if (now_.result) {
        record.prev_result = prev_of(from, &*now_.result);
        if (!whole_ && asks_for_previous())
          lose("the action before, of the state " + quoted_word(from) +
               ", has ended, but the event file does not have all of its output");
      }
      ++record.edges[from + "->" + to];
      change_state(record, from, to);
    } else if (fresh && !json::text(line, "next").value_or("").empty()) {
      // A guard chose another state. After a verdict the `route` event follows.
      record.retries.erase(record.current_state);
      record.entries.erase(record.current_state);
      record.current_state = text_of(line, "next");
      return;
    }
    forget();
  }

  void other(const std::string& word, const Value& line) {
    Record& record = now_.record;
    if (word == "messages_append") {
      add_message(record, text_of(line, "message"));
    } else if (word == "action_error") {
      record.last_result = Json::object(
          {{"verdict", "error"}, {"details", Json::object({{"error", text_of(line, "error")}})}});
    } else if (word == "handoff_detected") {
      record.status = Status::awaiting_continuation;
      record.terminated_by = "handoff";
      record.continuation_prompt = text_of(line, "continuation");
      record.phase = Phase::entered;
      forget();
    } else if (word == "loop_resume") {
      record.status = Status::running;
      record.terminated_by.clear();
      record.error.clear();
      ++record.resume_count;
    } else if (word == "loop_complete") {
      record.status = status_after(line);
      record.terminated_by = text_of(line, "terminated_by");
      record.error = text_of(line, "error");
      // A marker line or a signal ended it: the state runs again.
      if (record.terminated_by == "interrupted")
        record.phase = Phase::entered;
    }
  }

  void conclude() {
    const Record& record = now_.record;
    // The summary state of a limit is dropped. See Machine::resume_loop.
    if (!record.limited_state.empty()) {
      forget();
      return;
    }
    const LoopState* const state = loop_.state(record.current_state);
    const bool running = record.status == Status::running;
    // Former versions left an older phase there.
    if (!running && record.terminated_by == "interrupted") {
      now_.record.phase = Phase::entered;
      now_.verdict.reset();
      now_.result.reset();
    }
    const bool within = inside_ && !now_.verdict;
    // An evaluated action does not run again after a stop. Everything else is entered again. See
    // Machine::halt.
    if (!running || state == nullptr)
      now_.verdict.reset();
    if (state == nullptr || (!running && record.phase != Phase::action_done))
      now_.result.reset();
    // This holds after a stop, a limit and a handoff as well.
    if (within)
      lose("it is in the state " + quoted_word(record.current_state) +
           ", inside another loop whose progress is in no file");
    else if (now_.result && !now_.verdict && !coded_)
      lose("the action of the state " + quoted_word(state->name) +
           " has ended, but its exit code is not in the event file");
    else if (now_.result && !now_.verdict && !whole_ && asks_for_output(*state))
      lose("the action of the state " + quoted_word(state->name) + " has ended (exit code " +
           std::to_string(now_.result->exit_code) +
           "), but the event file does not have all of the output that its verdict needs");
  }

  bool asks_for_output(const LoopState& state) const {
    if (!state.next.empty())
      return asks_for_previous();
    const auto evaluator = state.evaluator ? state.evaluator : default_evaluator(loop_, state);
    const bool by_code =
        !evaluator || evaluator == Evaluator::exit_code || evaluator == Evaluator::diff_stall;
    return asks_for_previous() || (!by_code && (state.evaluate.is_null() ||
                                                json::child(*state.evaluate, "source") == nullptr));
  }

  bool asks_for_previous() const { return mentioned("prev.output"); }

  /// Whether a state uses this placeholder.
  bool mentioned(std::string_view name) const {
    const auto in = [&](const std::string& text) { return text.find(name) != std::string::npos; };
    return std::any_of(loop_.states.begin(), loop_.states.end(), [&](const LoopState& state) {
      return in(state.action.value_or("")) || in(state.append_to_messages) ||
             in(state.evaluate.dump()) || in(state.with.dump());
    });
  }

  const Loop& loop_;
  Rebuilt now_;
  std::vector<std::string> printed_;
  bool whole_ = true;    ///< the whole output of the action is known
  bool coded_ = true;    ///< the exit code of the action is known
  bool inside_ = false;  ///< an action of a loop inside the present state has ended
};

}  // namespace

Rebuilt rebuild_progress(const Loop& loop, Record record, const Value* events) {
  const bool past = record.start.empty() && record.status != Status::running;
  if (events == nullptr || !events->IsArray() || past) {
    Rebuilt as_it_stands;
    as_it_stands.record = std::move(record);
    return as_it_stands;
  }
  return ProgressRebuilder(loop, std::move(record)).over(*events);
}

}  // namespace baton::fsm_loop
