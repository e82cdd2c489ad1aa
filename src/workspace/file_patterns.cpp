#include "workspace/file_patterns.h"

#include <algorithm>
#include <span>

#include "base/text.h"
#include "workspace/context.h"

namespace baton {

std::string configured_patterns(const Context& context, const Catalog& catalog) {
  std::vector<std::string> patterns;
  for (const Catalog::Entry& entry : catalog.entries())
    for (const FileKind& kind : entry.kinds)
      if (std::find(patterns.begin(), patterns.end(), kind.pattern) == patterns.end())
        patterns.push_back(kind.pattern);
  const bool broken = !context.broken_configuration().empty() && !context.follows_daemon();
  if (patterns.empty() && (broken || !context.config().dialects.empty()))
    return "no files are looked for, since the configuration cannot be used";
  if (patterns.empty())
    return "no files are looked for, since the configuration names none";
  constexpr std::size_t kMost = 12;
  const std::size_t shown = std::min(patterns.size(), kMost);
  return "files are looked for as " + printable(join(std::span(patterns).first(shown), ", ")) +
         (patterns.size() > shown ? " and " + std::to_string(patterns.size() - shown) + " more"
                                  : "");
}

std::vector<std::string> never_seen(const Catalog& catalog) {
  std::vector<std::string> all;
  const Catalog::Entry* const rules = catalog.entry("rules");
  if (rules == nullptr)
    return all;
  for (const FileKind& kind : rules->kinds) {
    const auto match = catalog.match(kind.pattern);
    if (match && match->entry != rules)
      all.push_back("rule " + kind.flow + ": " + printable(kind.pattern) +
                    " is a file of the dialect " + std::string(match->entry->dialect->name) +
                    ", which comes first, so nothing of the rule happens");
  }
  return all;
}

}  // namespace baton
