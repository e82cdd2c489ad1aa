// SPDX-License-Identifier: Apache-2.0
#include "adapters/judge.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "adapters/output_values.h"
#include "base/text.h"
#include "core/reported.h"

namespace baton {
namespace {

/// A pause that a program names is waited for by a repetition, unless it is longer than this.
constexpr Millis kLongThrottle = std::chrono::minutes(5);
/// The highest number of tokens of one run that baton believes.
constexpr double kMostTokens = 1e15;
/// How many lines at the end of stdout may be a program's own error.
constexpr std::size_t kErrorLines = 10;
/// How much of an id that cannot be kept is shown.
constexpr std::size_t kMostOfId = 80;

struct ClassRow {
  ErrorClass error;
  Outcome outcome;
  std::string_view reason;  ///< of `failed`
};
constexpr std::array kOutcomes = {
    ClassRow{ErrorClass::limit, Outcome::limited, ""},
    ClassRow{ErrorClass::model_limit, Outcome::limited, ""},
    ClassRow{ErrorClass::spend, Outcome::limited, ""},
    ClassRow{ErrorClass::credit, Outcome::auth, ""},
    ClassRow{ErrorClass::auth, Outcome::auth, ""},
    ClassRow{ErrorClass::throttle, Outcome::transient, ""},
    ClassRow{ErrorClass::context, Outcome::failed, "context_too_long"},
    ClassRow{ErrorClass::refusal, Outcome::failed, "refused"},
    ClassRow{ErrorClass::max_turns, Outcome::failed, "max_turns"},
    ClassRow{ErrorClass::budget, Outcome::failed, "budget"},
    ClassRow{ErrorClass::permission, Outcome::failed, "permission_denied"},
    ClassRow{ErrorClass::config, Outcome::failed, "agent_error"},
    ClassRow{ErrorClass::transient, Outcome::transient, ""},
    ClassRow{ErrorClass::permanent, Outcome::failed, "agent_error"},
};
static_assert(kOutcomes.size() == static_cast<std::size_t>(ErrorClass::permanent) + 1 &&
              std::is_sorted(kOutcomes.begin(), kOutcomes.end(),
                             [](const ClassRow& l, const ClassRow& r) {
                               return l.error < r.error;
                             }));
const ClassRow& row_of(ErrorClass error) {
  return kOutcomes.at(static_cast<std::size_t>(error));
}

/// What an HTTP status means where no text says more. 400 and 403 may be anything.
std::optional<ErrorClass> class_of_status(std::int64_t status) {
  constexpr std::int64_t kServerErrors = 500;
  constexpr std::int64_t kNoStatus = 600;
  switch (status) {
    case 401:
      return ErrorClass::auth;
    case 402:
      return ErrorClass::credit;
    case 408:
      return ErrorClass::transient;
    case 429:
      return ErrorClass::throttle;
    default:
      return status >= kServerErrors && status < kNoStatus ? std::optional(ErrorClass::transient)
                                                           : std::nullopt;
  }
}

/// The text of a value: a string, or the texts of an array.
std::string text_of(const Value& value) {
  if (const auto text = json::text(value))
    return std::string(*text);
  std::string all;
  if (value.IsArray())
    for (const Value& each : value.GetArray())
      if (const std::string one = text_of(each); !one.empty())
        all += (all.empty() ? "" : "\n") + one;
  return all;
}

/// What is searched of a text. Errors are short; a longer text holds more than an error.
std::string error_part(std::string_view text) {
  constexpr std::size_t kMost = 16U << 10U;
  return mended_utf8(text.substr(0, kMost));
}

std::string first_text(const Value& object, const std::vector<std::string>& pointers) {
  for (const std::string& pointer : pointers)
    if (const Value* const value = json::at(object, pointer))
      if (std::string text = text_of(*value); !trimmed(text).empty())
        return text;
  return {};
}

/// Adds up the numbers at pointers in which a token `*` means each member. What is no number from 0
/// to `most` is a mistake of the program and is passed over.
class Sum {
 public:
  Sum(double most, std::string& fault) : most_(most), fault_(fault) {}

  std::optional<double> of(const Value& object, const std::vector<std::string>& pointers) {
    for (const std::string& pointer : pointers)
      add(object, pointer, pointer);
    return any_ ? std::optional(sum_) : std::nullopt;
  }

 private:
  void add(const Value& value, std::string_view pointer, const std::string& whole) {
    const std::size_t star = pointer.find("/*");
    if (star == std::string_view::npos) {
      if (const Value* const found = json::at(value, pointer); found != nullptr && !found->IsNull())
        add_value(*found, whole);
      return;
    }
    const Value* const all = json::at(value, pointer.substr(0, star));
    if (all != nullptr && all->IsObject())
      for (const auto& member : all->GetObject())
        add(member.value, pointer.substr(star + 2), whole);
  }

  void add_value(const Value& found, const std::string& pointer) {
    constexpr std::size_t kMostShown = 60;
    if (found.IsNumber() && found.GetDouble() >= 0 && found.GetDouble() <= most_) {
      sum_ += found.GetDouble();
      any_ = true;
    } else if (fault_.empty()) {
      fault_ = printable(json::dump(found), kMostShown) + " at " + pointer;
    }
  }

  const double most_;
  std::string& fault_;  ///< the first one is entered
  double sum_ = 0;
  bool any_ = false;
};

/// One reading of the output.
class Reading {
 public:
  Reading(const Adapter& adapter, const std::string& output, const ResetClock& clock)
      : adapter_(adapter), clock_(clock) {
    cost_.resize(adapter.usage.size());
    tokens_.resize(adapter.usage.size());
    for_each_object(output, [this](const Value& each) { see(each); });
    if (final_)
      for (std::size_t i = 0; i < adapter_.usage.size(); ++i)
        if (adapter_.usage[i].match.empty())
          count(i, final());
  }

  bool has_final() const { return final_.has_value(); }
  const Value& final() const { return **final_; }
  const FinalRow& row() const { return *row_; }
  bool says_success() const {
    return final_ && !failed_ &&
           row_->ok.value_or(matches(row_->ok_if, final()) &&
                             (row_->failed_if.empty() || !matches(row_->failed_if, final())));
  }
  const std::vector<std::string>& texts() const { return texts_; }
  const std::optional<ErrorClass>& event() const { return event_; }
  const std::optional<LimitSeen>& limit() const { return limit_; }
  bool failed() const { return failed_; }

  void fill(Judgement& judgement) const {
    judgement.session = session_;
    judgement.session_fault = session_fault_;
    judgement.usage_fault = usage_fault_;
    judgement.denied = denied_;
    for (std::size_t i = 0; i < adapter_.usage.size(); ++i) {
      // The first row that found something speaks for the run.
      if (!judgement.cost_usd && cost_[i] && *cost_[i] <= kMostCost)
        judgement.cost_usd = cost_[i];
      if (!judgement.tokens && tokens_[i] && *tokens_[i] <= kMostTokens) {
        judgement.tokens = static_cast<std::int64_t>(*tokens_[i]);
        judgement.thread_tokens = adapter_.usage[i].of == UsageRow::Of::thread;
      }
    }
  }

 private:
  void see(const Value& object) {
    for (const FinalRow& row : adapter_.finals)
      if (matches(row.match, object) && (row.unless.empty() || !matches(row.unless, object))) {
        final_ = Json(object);
        row_ = &row;
      }
    for (const OutputEvent& row : adapter_.events)
      if (matches(row.match, object))
        see(row, object);
    for (std::size_t i = 0; i < adapter_.usage.size(); ++i)
      if (const UsageRow& row = adapter_.usage[i]; !row.match.empty() && matches(row.match, object))
        count(i, object);
    for (const std::string& pointer : adapter_.denials)
      if (const Value* const denials = json::at(object, pointer))
        denied_ = denied_ || (denials->IsArray() && !denials->Empty()) ||
                  json::number(*denials).value_or(0) > 0;
    // An id becomes an argument of the next run.
    for (const std::string& pointer : adapter_.session.id)
      if (const Value* const id = json::at(object, pointer)) {
        if (const auto text = json::text(*id); text && is_session_id(*text))
          session_ = *text;
        else if (!id->IsNull() && session_fault_.empty())
          session_fault_ = printable(json::dump(*id), kMostOfId);
      }
  }

  void see(const OutputEvent& row, const Value& object) {
    std::string text = first_text(object, row.text);
    if (row.like && row.like->search(folded(error_part(text))).match != Pattern::Match::yes)
      return;
    failed_ = failed_ || row.fails;
    if (row.until.empty()) {
      event_ = row.error ? row.error : event_;
    } else if (const Value* const until = json::at(object, row.until)) {
      // A limit by its number. Without a number that can be true, the text decides.
      if (const auto moment = reset_epoch(json::number(*until).value_or(0), clock_))
        limit_ = LimitSeen{row.error == ErrorClass::model_limit, moment};
    }
    constexpr std::size_t kMost = 20;
    if (texts_.size() == kMost)
      texts_.erase(texts_.begin());
    if (!text.empty())
      texts_.push_back(std::move(text));
  }

  void count(std::size_t nth, const Value& object) {
    const UsageRow& row = adapter_.usage[nth];
    const auto enter = [&](std::optional<double>& known, const std::optional<double>& found) {
      if (found)
        known = row.of == UsageRow::Of::each ? known.value_or(0) + *found : *found;
    };
    enter(cost_[nth], Sum(kMostCost, usage_fault_).of(object, row.cost));
    enter(tokens_[nth], Sum(kMostTokens, usage_fault_).of(object, row.tokens));
  }

  const Adapter& adapter_;
  const ResetClock& clock_;
  std::optional<Json> final_;
  const FinalRow* row_ = nullptr;
  std::vector<std::string> texts_;   ///< of the last error events, in order
  std::optional<ErrorClass> event_;  ///< of the last error event that has a class
  std::optional<LimitSeen> limit_;
  bool failed_ = false;  ///< an event says so
  bool denied_ = false;
  std::string session_;
  std::string session_fault_;
  std::string usage_fault_;
  std::vector<std::optional<double>> cost_;
  std::vector<std::optional<double>> tokens_;
};

struct Classified {
  ErrorClass error = ErrorClass::permanent;
  std::string text;
};

class Judge {
 public:
  Judge(const Adapter& adapter, const RunEnd& end, std::string_view prompt, const ResetClock& clock)
      : adapter_(adapter),
        end_(end),
        output_(without_echo(mended_utf8(end.output), prompt)),
        errors_(without_echo(mended_utf8(end.errors), prompt)),
        clock_(clock),
        reading_(adapter_, output_, clock_) {}

  Judgement judge() {
    reading_.fill(judgement_);
    judgement_.outcome = end_.outcome;
    judgement_.reason = end_.reason;
    const bool by_itself =
        (end_.outcome == Outcome::succeeded || end_.outcome == Outcome::failed) &&
        end_.reason != kOutOfMemory && (end_.exit_code || end_.signal != 0);
    if (!by_itself)
      of_own_act();
    else if (reading_.says_success())
      of_success();
    else
      of_failure();
    return std::move(judgement_);
  }

 private:
  /// baton or the kernel ended the run, or the program never ran. A limit that it had met is still
  /// worth knowing.
  void of_own_act() {
    if (const auto known = reading_.says_success() ? std::nullopt : cause(Channel::stdout_always))
      if (row_of(known->error).outcome == Outcome::limited)
        judgement_.limit = limit_of(*known);
    judgement_.error = one_line(end_.error.empty() ? last_error() : end_.error);
  }

  /// The final object says success.
  void of_success() {
    judgement_.empty_answer =
        !adapter_.answer.empty() && first_text(reading_.final(), adapter_.answer).empty();
    if (end_.outcome == Outcome::failed)
      fail("inconsistent", "the result says success, and the program ended with " +
                               (end_.exit_code ? "exit status " + std::to_string(*end_.exit_code)
                                               : "signal " + std::to_string(end_.signal)));
  }

  /// The final object says failure, or there is none.
  void of_failure() {
    const bool failed = end_.outcome == Outcome::failed || adapter_.needs_final ||
                        reading_.has_final() || reading_.failed();
    if (const auto known =
            failed ? cause(Channel::stdout_text) : printed(output_tail(), Channel::stdout_always))
      return enter(*known);
    if (reading_.has_final() || reading_.failed())
      return fail("agent_error", reported_text());
    if (end_.outcome == Outcome::failed) {
      judgement_.error = one_line(last_error());
      note_session(judgement_.error);
    } else if (failed) {
      fail("no_result", last_error());
    }
  }

  /// Why the run failed, as far as the program says it in a way that the adapter knows. `most`: the
  /// last channel of stdout that counts.
  std::optional<Classified> cause(Channel most) const {
    const std::optional<Classified> reported = reported_cause();
    // A limit that an event announced explains the failure, unless the text names another reason.
    const Outcome said = reported ? row_of(reported->error).outcome : Outcome::limited;
    if (reading_.limit() && (said == Outcome::limited || said == Outcome::transient))
      return Classified{reported && reported->error == ErrorClass::model_limit
                            ? ErrorClass::model_limit
                            : ErrorClass::limit,
                        reported_text()};
    if (reported)
      return reported;
    // A final object that gives a reason has decided. stderr may quote anything.
    if (reading_.has_final() && !final_text().empty())
      return std::nullopt;
    std::optional<Classified> text = printed(errors_, Channel::stderr_text);
    for (const Channel each : {Channel::stdout_text, Channel::stdout_always})
      if (!text && !reading_.has_final() && each >= most)
        text = printed(output_tail(), each);
    const auto exit = reading_.has_final() ? adapter_.exits.end()
                                           : adapter_.exits.find(end_.exit_code.value_or(0));
    // An exit status says "too many requests"; a text may say for how long.
    if (exit == adapter_.exits.end() ||
        (exit->second == ErrorClass::throttle && text && text->error <= ErrorClass::throttle))
      return text;
    return Classified{exit->second, text ? text->text : last_error()};
  }

  /// The same from the final object and the events.
  std::optional<Classified> reported_cause() const {
    const std::string text = final_text();
    if (const auto known = class_of(text, Channel::result))
      return Classified{*known, text};
    for (auto each = reading_.texts().rbegin(); each != reading_.texts().rend(); ++each)
      if (const auto known = class_of(*each, Channel::event))
        return Classified{*known, *each};
    if (reading_.event())
      return Classified{*reading_.event(), reported_text()};
    if (reading_.has_final())
      for (const std::string& pointer : adapter_.status)
        if (const Value* const status = json::at(reading_.final(), pointer))
          if (const auto known = class_of_status(json::integer(*status).value_or(0)))
            return Classified{*known, text};
    return std::nullopt;
  }

  std::optional<ErrorClass> class_of(std::string_view text, Channel channel) const {
    if (const std::string looked_at = folded(error_part(text)); !looked_at.empty())
      for (const ErrorRow& row : adapter_.errors)
        if (row.in == channel && row.pattern.search(looked_at).match == Pattern::Match::yes)
          return row.error;
    return std::nullopt;
  }

  /// The same for a text of lines. The order of the rows decides, not that of the lines.
  std::optional<Classified> printed(std::string_view text, Channel channel) const {
    std::optional<Classified> first;
    while (!text.empty()) {
      const std::string_view line = take_line(text);
      const auto known = class_of(line, channel);
      if (known && (!first || *known < first->error))
        first = Classified{*known, std::string(line)};
    }
    return first;
  }

  /// The error text of the final object; may be empty.
  std::string final_text() const {
    return reading_.has_final() ? first_text(reading_.final(), reading_.row().error) : "";
  }

  std::string_view output_tail() const { return last_lines(output_, kErrorLines); }

  /// Of the last lines of stderr, the last one that begins with `error`, else the last one; else
  /// the text of the last error event. Some programs print a hint after their error.
  std::string last_error() const {
    std::string_view lines = last_lines(errors_, kErrorLines);
    std::string_view error;
    while (!lines.empty())
      if (const std::string_view line = take_line(lines); folded(line).starts_with("error"))
        error = line;
    if (!error.empty())
      return std::string(error);
    if (!trimmed(errors_).empty())
      return std::string(last_lines(errors_, 1));
    return reading_.texts().empty() ? std::string() : reading_.texts().back();
  }

  /// The error text of the final object or the events; else the last line of stderr.
  std::string reported_text() const {
    if (std::string text = final_text(); !text.empty())
      return text;
    return reading_.texts().empty() ? last_error() : reading_.texts().back();
  }

  LimitSeen limit_of(const Classified& known) const {
    LimitSeen limit{known.error == ErrorClass::model_limit, std::nullopt};
    if (reading_.limit())
      return {limit.of_model || reading_.limit()->of_model, reading_.limit()->until};
    limit.until = reset_of(known);
    return limit;
  }

  /// When a limit ends: by its text, else by another member of the final object, together with the
  /// name of that: `retry-after: 600`.
  std::optional<Time> reset_of(const Classified& known) const {
    if (const auto until = reset_time(known.text, clock_); until || !reading_.has_final())
      return until;
    for (const std::string& pointer : adapter_.resets)
      if (const Value* const value = json::at(reading_.final(), pointer)) {
        const std::string text = value->IsNumber() ? json::dump(*value) : text_of(*value);
        const std::string name = pointer.substr(pointer.rfind('/') + 1);
        if (const auto until = reset_time(name + ": " + text, clock_))
          return until;
      }
    return std::nullopt;
  }

  void enter(const Classified& known) {
    const ClassRow& row = row_of(known.error);
    if (row.outcome == Outcome::limited)
      return limited(limit_of(known), known.text);
    if (known.error == ErrorClass::throttle)
      if (const auto until = reset_of(known); until && *until > clock_.now + kLongThrottle)
        return limited({false, until}, known.text);
    judgement_.outcome = row.outcome;
    judgement_.reason = row.outcome == Outcome::failed ? row.reason : word(known.error);
    judgement_.error = one_line(known.text);
    note_session(known.text);
  }

  void limited(const LimitSeen& limit, const std::string& text) {
    judgement_.outcome = Outcome::limited;
    judgement_.reason = "provider_limit";
    judgement_.limit = limit;
    judgement_.error = one_line(text);
  }

  void fail(Word reason, const std::string& text) {
    judgement_.outcome = Outcome::failed;
    judgement_.reason = std::move(reason);
    judgement_.error = one_line(text);
    note_session(text);
  }

  void note_session(const std::string& text) {
    const auto& pattern = adapter_.session.unusable;
    const auto says_so = [&](const std::string& each) {
      return pattern->search(folded(error_part(each))).match == Pattern::Match::yes;
    };
    judgement_.session_unusable = pattern && (says_so(text) || says_so(errors_));
  }

  const Adapter& adapter_;
  const RunEnd& end_;
  const std::string output_;
  const std::string errors_;
  const ResetClock& clock_;
  const Reading reading_;
  Judgement judgement_;
};

}  // namespace

std::string one_line(std::string_view text) {
  constexpr std::size_t kMost = 300;
  text = trimmed(text);
  return printable(trimmed(text.substr(0, text.find('\n'))), kMost);
}

Judgement judge(const Adapter& adapter, const RunEnd& end, std::string_view prompt,
                const ResetClock& clock) {
  return Judge(adapter, end, prompt, clock).judge();
}

}  // namespace baton
