#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace fenceline::client::redis {

/// A command as a client writes it (RESP2): an array of bulk strings. Pure.
std::string command(std::initializer_list<std::string_view> words);

/// `EVAL script <number of keys> keys… arguments…`. Pure.
std::string eval(std::string_view script, const std::vector<std::string>& keys,
                 std::initializer_list<std::string_view> arguments);

}  // namespace fenceline::client::redis
