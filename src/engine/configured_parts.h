// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of an engine that depend on the configuration. A reload makes a new set and replaces
// the old one as a whole, so that no part mixes two configurations.
// What has to survive a reload (flow records, inputs, requests, pending writes) is kept in
// engine.cpp.

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

/// The parts refer to each other, so an object cannot be copied or moved.
struct ConfiguredParts {
  /// Errc::config: a schema cannot be used, and the setup does not tolerate that.
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
