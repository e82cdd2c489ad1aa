// SPDX-License-Identifier: Apache-2.0
#pragma once

// Why a flow is where it is, as data: its documents, stages, desired runs, holds and next starts.
// `baton explain` prints it as text or JSON.
// It decides nothing and reads no files: the caller checks the files and passes in the results.

#include <string>
#include <utility>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"
#include "core/reconcile.h"
#include "engine/decide/status.h"
#include "engine/state/flow_record.h"

namespace baton {

/// How a document counts for its flow.
///
/// | word     | means                                                                    |
/// |----------|--------------------------------------------------------------------------|
/// | accepted | it is in force                                                           |
/// | rejected | it is wrong by itself; the last accepted version, if any, stays in force |
/// | conflict | it is right by itself but does not fit the other documents of the flow   |
/// | absent   | there is no such file                                                    |
enum class DocumentVerdict { accepted, rejected, conflicting, absent };
std::string_view word(DocumentVerdict verdict);

struct DocumentReport {
  std::string path;
  std::string kind;
  DocumentVerdict verdict = DocumentVerdict::absent;
  Findings findings;
};

/// Why a flow is where it is, as data.
struct Explanation {
  FlowStatus status;
  std::vector<DocumentReport> documents;
  std::vector<std::pair<Subject, StageState>> stages;  ///< see subjects_in_order
  std::vector<Desired> desired;
  std::vector<Hold> holds;
  std::vector<Start> starts;  ///< what baton would start now
  std::vector<Run> runs;
};

/// `documents`: the files as the caller has found them. Adds what the flow record says about them:
/// rejections and conflicts.
Explanation explain(const FlowRecord& record, const Plan& plan, const ControlRow& root,
                    std::vector<DocumentReport> documents);

Json explanation_json(const Explanation& explanation);
/// The same as text for people, with names made printable.
std::string explanation_text(const Explanation& explanation);

}  // namespace baton
