#pragma once

#include <string>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"
#include "core/reconcile.h"
#include "engine/decide/status.h"
#include "engine/state/flow_record.h"

namespace baton {

/// What a document is worth to its flow.
///
/// | word     | means                                                                        |
/// |----------|------------------------------------------------------------------------------|
/// | accepted | it is in force                                                               |
/// | rejected | it is wrong by itself; the last accepted version, if any, stays in force     |
/// | held     | it is right by itself but does not fit the other documents; the flow is held |
/// | absent   | there is no such file                                                        |
enum class Standing { accepted, rejected, held, absent };
std::string_view word(Standing standing);

struct DocumentReport {
  std::string path;
  std::string kind;
  Standing standing = Standing::absent;
  Findings findings;
};

/// Why a flow is where it is, as data.
struct Explanation {
  FlowStatus status;
  std::vector<DocumentReport> documents;
  std::map<Subject, StageState> stages;
  std::vector<Desired> desired;
  std::vector<Hold> holds;
  std::vector<Start> starts;  ///< what would be started now
  std::vector<Run> runs;
};

/// `documents` as somebody who can read files has found them; conflicts from the book are added.
Explanation explain(const FlowRecord& record, const Plan& plan, const ControlRow& root,
                    std::vector<DocumentReport> documents);

Json explanation_json(const Explanation& explanation);
/// The same for people; names made printable.
std::string explanation_text(const Explanation& explanation);

}  // namespace baton
