// SPDX-License-Identifier: Apache-2.0
#include "engine/intake/judged_texts.h"

#include <utility>

namespace baton {
namespace {

/// Short texts take more memory than their bytes, so their number has a limit, too.
constexpr std::size_t kMostTexts = 1000;

}  // namespace

DocumentCheck JudgedTexts::check(std::string text, const Digest& digest, Format format,
                                 const Result<std::shared_ptr<const Schema>>& schema,
                                 const LoadLimits& limits) {
  // A schema that cannot be used now may be there the next time.
  if (!schema)
    return check_text(std::move(text), format, schema, limits);
  const Key key{*schema, format, digest};
  if (const DocumentCheck* const known = find(key, text))
    return *known;
  DocumentCheck checked = check_text(text, format, schema, limits);
  keep(key, std::move(text), checked);
  return checked;
}

const DocumentCheck* JudgedTexts::find(const Key& key, const std::string& text) {
  const auto found = known_.find(key);
  if (found == known_.end() || found->second.its_text() != text)
    return nullptr;
  by_use_.erase(found->second.used);
  found->second.used = ++clock_;
  by_use_.emplace(found->second.used, key);
  return &found->second.checked;
}

void JudgedTexts::keep(const Key& key, std::string text, DocumentCheck checked) {
  // Another text has the same digest. It is judged each time.
  if (known_.contains(key))
    return;
  Judged judged{std::move(checked), {}, ++clock_};
  if (judged.checked.document == nullptr)
    judged.text = std::move(text);
  bytes_ += judged.its_text().size();
  by_use_.emplace(judged.used, key);
  known_.emplace(key, std::move(judged));
  while (known_.size() > 1 && (bytes_ > most_bytes_ || known_.size() > kMostTexts))
    drop_oldest();
}

void JudgedTexts::drop_oldest() {
  const auto oldest = by_use_.begin();
  const auto found = known_.find(oldest->second);
  bytes_ -= found->second.its_text().size();
  known_.erase(found);
  by_use_.erase(oldest);
}

void JudgedTexts::clear() {
  known_.clear();
  by_use_.clear();
  bytes_ = 0;
}

}  // namespace baton
