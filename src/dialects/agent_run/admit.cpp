#include "dialects/agent_run/agent_run.h"
#include "dialects/agent_run/memo.h"
#include "dialects/agent_run/record.h"
#include "dialects/findings.h"

namespace baton::agent_run {

Admission admit(const View& view, const Change& change) {
  Admission admission;
  if (change.before == nullptr || !memo_of(view.memo).driven)
    return admission;
  FindingList findings("agent_run");
  if (change.kind == "run_state") {
    if (same_record(change.before->root(), change.after.root()))
      return admission;
    admission.why =
        "baton runs this workflow, and the steps are its own to write; "
        "`baton start`, `approve`, `reject` and `retry` change them";
    findings.error("S27", "", "the steps were changed by somebody else", {});
  } else if (change.kind == "workflow" || change.kind == "prompt") {
    if (change.before->text() == change.after.text())
      return admission;
    admission.why = "the run keeps the version it was started with";
    findings.error("S28", "", "the run's copy was changed while it runs", {});
  } else {
    return admission;
  }
  admission.verdict = Admission::Verdict::restore;
  admission.findings = findings.take();
  return admission;
}

}  // namespace baton::agent_run
