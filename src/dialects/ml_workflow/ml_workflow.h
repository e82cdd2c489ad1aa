#pragma once

namespace baton::ml_workflow {}  // namespace baton::ml_workflow
