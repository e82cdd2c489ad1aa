// SPDX-License-Identifier: Apache-2.0
#include "engine/intake/intake.h"

namespace baton {
namespace {

/// Reports a late write that baton does not use, only keeps in the journal; `why` says the reason.
void only_kept(const LateWrite& write, const FlowId& flow, const char* why, Draft& draft) {
  draft.event("late_write", flow,
              write.path + " was written through an old descriptor after baton had replaced it" +
                  why + "; what was written is kept in the journal");
}

/// Whether somebody wrote the file after baton looked at it.
bool is_news(const FlowRecord* known, const std::string& path, const Digest& there) {
  if (known == nullptr)
    return false;
  const auto row = known->accepted.find(path);
  return row != known->accepted.end() && row->second.digest != there;
}

}  // namespace

Result<bool> Intake::late(const LateWrite& write, Draft& draft,
                          const std::vector<Request>& requests) {
  if (const auto match = catalog_.match(write.path)) {
    const DocumentCheck checked =
        check_document(*match, write.path, write.bytes, ports_.schemas, limits_);
    if (!checked.accepted() || match->entry->dialect->admit == nullptr) {
      only_kept(write, match->flow, checked.accepted() ? "" : ", and it is not valid", draft);
    } else {
      auto dealt_with = merge_late(*match, write, checked, draft, requests);
      if (!dealt_with || !*dealt_with)
        return dealt_with;
    }
  }
  draft.commit.replaced.emplace_back(write.path, write.bytes);
  return true;
}

Result<bool> Intake::merge_late(const Catalog::Match& match, const LateWrite& write,
                                const DocumentCheck& checked, Draft& draft,
                                const std::vector<Request>& requests) {
  const auto keep = [&](const char* why) {
    only_kept(write, match.flow, why, draft);
    return true;
  };
  // The file may have changed, too. Look at it first; then compare the late write with it.
  if (auto looked = look(write.path, draft, requests); !looked)
    return pass_on(looked);
  const auto there = ports_.disk.read(write.path, limits_.max_bytes);
  const bool not_now =
      !there && (there.error().code == Errc::busy || there.error().code == Errc::away ||
                 there.error().code == Errc::io);
  if (!there && !not_now)
    return keep(", and is gone or cannot be read now");
  if (not_now)
    return false;
  const FlowRecord* const known = draft.find(match.flow);
  if (known != nullptr && known->rejected.contains(write.path))
    return keep(", and what stands there now was rejected");
  if (unsettled_.waits(write.path))
    return false;
  if (there->digest == checked.document->digest())
    return true;
  if (is_news(known, write.path, there->digest))
    return false;
  auto admission =
      ask(match, write.path, *checked.document, Unseen{write.into, true}, draft, requests);
  if (!admission)
    return pass_on(admission);
  std::string text;
  if (admission->verdict == Admission::Verdict::merged)
    text = admission->text;
  else if (admission->verdict == Admission::Verdict::accept)
    text = write.bytes;
  else
    return keep(", and what stands there now goes before it");
  const DocumentCheck merged = check_document(match, write.path, text, ports_.schemas, limits_);
  if (!merged.accepted())
    return keep(", and merged with what stands there now it would not be valid");
  FlowRecord& record = draft.touch(match.flow);
  if (admission->memo)
    draft.memo(record, *admission->memo);
  if (text == there->bytes)
    return true;
  draft.write_over(record, write.path, *there, text, "a late write");
  accept(match, write.path, merged.document, "baton", draft);
  draft.event("merged", match.flow, write.path + ": a late write into the replaced file");
  return true;
}

}  // namespace baton
