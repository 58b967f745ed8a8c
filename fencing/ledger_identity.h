#pragma once

#include <string>
#include <string_view>

namespace fenceline::fencing {

/// An identity that no other ledger has: 128 random bits as 32 lower-case hexadecimal digits.
/// Throws `std::exception` if the system has no random bits.
std::string new_ledger_identity();

/// Whether `text` has the form of one. Pure.
bool is_ledger_identity(std::string_view text);

}  // namespace fenceline::fencing
