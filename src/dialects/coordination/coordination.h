#pragma once

namespace baton::coordination {}  // namespace baton::coordination
