#pragma once

#include <string>

namespace CLI {
class App;
}

namespace fenceline::proxy {

/// The commands and options of a command line as one JSON object, of which packaging makes the man
/// page and the completions: `name`, `description`, `footer`, `options` and `commands`, which are
/// objects of the same form. An option has `long` and `short` (names without dashes), `positional`
/// (its name as an argument, or ""), `value` (what stands for its value in help, "" for a flag),
/// `choices` (the only values, if they are limited), `description` and `required`. What is hidden
/// from help is left out.
std::string command_tree_json(const CLI::App& cli);

}  // namespace fenceline::proxy
