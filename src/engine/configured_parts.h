#pragma once

#include <memory>

#include "base/result.h"
#include "config/setup.h"
#include "core/catalog.h"
#include "engine/decide/flow_decider.h"
#include "engine/engine.h"
#include "engine/intake/document_check.h"
#include "engine/intake/document_store.h"
#include "engine/intake/intake.h"
#include "engine/perform/planning.h"
#include "engine/recovery.h"

namespace baton {

/// The parts of an engine that depend on the configuration; replaced together. They refer to each
/// other, so it stays where it was made.
struct ConfiguredParts {
  /// Errc::config: a schema cannot be used (unless the setup bears such).
  static Result<std::unique_ptr<ConfiguredParts>> make(const Ports& ports, Setup setup);

  ConfiguredParts(const Ports& ports, Setup given);
  ConfiguredParts(const ConfiguredParts&) = delete;
  ConfiguredParts& operator=(const ConfiguredParts&) = delete;
  ConfiguredParts(ConfiguredParts&&) = delete;
  ConfiguredParts& operator=(ConfiguredParts&&) = delete;
  ~ConfiguredParts() = default;

  Setup setup;
  Catalog catalog;
  Schemas schemas;
  DocumentStore documents;
  Intake intake;
  FlowDecider flow_decider;
  Planning planning;
  Recovery recovery;
};

}  // namespace baton
