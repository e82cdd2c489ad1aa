#pragma once

#include <memory>

#include "core/ports.h"

namespace baton {

std::unique_ptr<Clock> real_clock();

}  // namespace baton
