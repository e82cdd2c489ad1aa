#pragma once

#include "dialects/coordination/session.h"
#include "dialects/coordination/writes.h"

namespace baton::coordination {

/// The transition table (schemas/coordination/README.md), for every group: who is wanted next, or
/// why nobody is. May block a group whose developer does not come forward.
void route_groups(Scene& scene, Standing standing, Writes& writes, Decision& decision);

/// The values for the prompt of a start (schemas/coordination/prompts). For commands: group,
/// branch, tier (`strong` for a review after three revisions, else `standard`).
Brief brief(const View& view, const Desired& desired);

/// One project manager at a time.
Claim manager_claim(const Scene& scene);

/// A person's word: `answer` for a group that was held, which is tried anew; `approve`.
void answer(Scene& scene, Writes& writes, Decision& decision);
/// The same while group_status is gone: it could be written nowhere.
void refuse_answers(const Scene& scene, Decision& decision);

}  // namespace baton::coordination
