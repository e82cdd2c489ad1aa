#include "app/works.h"

#include <utility>

namespace baton {

Works::Works(const Ports& ports, Setup given)
    : setup(std::move(given)),
      catalog(Catalog::of(setup.dialects)),
      schemas(setup.schemas),
      library(ports.journal, setup.load, setup.rehearsal),
      intake({ports.disk, library, schemas}, catalog, setup.environment, setup.load),
      deliberation(ports.disk, library, schemas, catalog, intake, setup),
      planning(setup, catalog, library),
      recovery({ports.disk, library, schemas}, catalog, setup) {
  setup.environment.retry = setup.retry;
  for (const auto& [role, spec] : setup.agents) {
    setup.environment.role_retry[role] = spec.retry;
    setup.environment.role_limits[role] = spec.limits;
    setup.environment.role_env[role] = {spec.env.begin(), spec.env.end()};
  }
}

Result<std::unique_ptr<Works>> Works::make(const Ports& ports, Setup setup) {
  auto works = std::make_unique<Works>(ports, std::move(setup));
  for (const Catalog::Entry& entry : works->catalog.entries())
    for (const FileKind& kind : entry.kinds) {
      if (kind.schema.empty() || works->setup.bear_schemas)
        continue;
      if (auto schema = works->schemas.get(kind.schema); !schema)
        return fail(Errc::config,
                    "the schema of " + std::string(entry.dialect->name) + "/" + kind.kind +
                        " cannot be used: " + schema.error().message,
                    schema.error().where.empty() ? kind.schema : schema.error().where);
    }
  return works;
}

}  // namespace baton
