// SPDX-License-Identifier: Apache-2.0
#include "engine/configured_parts.h"

#include <utility>

namespace baton {

ConfiguredParts::ConfiguredParts(const Ports& ports, Setup given)
    : setup(std::move(given)),
      catalog(Catalog::of(setup.dialects)),
      schemas(setup.schemas),
      documents(ports.journal, setup.load, setup.rehearsal),
      intake({ports.disk, documents, schemas}, catalog, setup.environment, setup.load, setup.sizes,
             setup.act_on_reverted),
      flow_decider(ports.disk, documents, schemas, catalog, intake, setup),
      planning(setup, catalog, documents, ports.zones),
      recovery({ports.disk, documents, schemas}, catalog, setup) {
  intake.patient(setup.may_start && !setup.rehearsal);
  setup.environment.retry = setup.retry;
  for (const auto& [role, spec] : setup.agents) {
    setup.environment.role_retry[role] = spec.retry;
    setup.environment.role_limits[role] = spec.limits;
    setup.environment.role_env[role] = {spec.env.begin(), spec.env.end()};
  }
}

Result<std::unique_ptr<ConfiguredParts>> ConfiguredParts::make(const Ports& ports, Setup setup) {
  auto parts = std::make_unique<ConfiguredParts>(ports, std::move(setup));
  for (const Catalog::Entry& entry : parts->catalog.entries())
    for (const FileKind& kind : entry.kinds) {
      if (kind.schema.empty() || parts->setup.tolerate_bad_schemas)
        continue;
      if (auto schema = parts->schemas.get(kind.schema); !schema)
        return fail(Errc::config,
                    "the schema of " + std::string(entry.dialect->name) + "/" + kind.kind +
                        " cannot be used: " + schema.error().message,
                    schema.error().where.empty() ? kind.schema : schema.error().where);
    }
  return parts;
}

}  // namespace baton
