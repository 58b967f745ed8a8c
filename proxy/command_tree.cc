#include "proxy/command_tree.h"

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <string_view>
#include <vector>

namespace fenceline::proxy {
namespace {

boost::json::array to_array(const std::vector<std::string>& texts) {
  boost::json::array array;
  for (const std::string& text : texts) {
    array.emplace_back(text);
  }
  return array;
}

/// CLI11 keeps the choices of IsMember only in the name of the type: "TEXT:{one,two}".
boost::json::array choices_in(std::string_view type) {
  boost::json::array choices;
  const std::size_t open = type.find(":{");
  const std::size_t close = type.find('}', open);
  if (open == std::string_view::npos || close == std::string_view::npos) {
    return choices;
  }
  std::string_view list = type.substr(open + 2, close - open - 2);
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    choices.emplace_back(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return choices;
}

boost::json::object describe_option(const CLI::Option& option) {
  const std::string type = option.get_type_size() == 0 ? "" : option.get_type_name();
  return {{"long", to_array(option.get_lnames())},
          {"short", to_array(option.get_snames())},
          {"positional", option.get_positional() ? option.get_name(true) : ""},
          {"value", type.substr(0, type.find(':'))},
          {"choices", choices_in(type)},
          {"description", option.get_description()},
          {"required", option.get_required()}};
}

boost::json::object describe(const CLI::App& app) {
  boost::json::array options;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) {
      options.push_back(describe_option(*option));
    }
  }
  boost::json::array commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) {
      commands.push_back(describe(*command));
    }
  }
  return {{"name", app.get_name()},
          {"description", app.get_description()},
          {"footer", app.get_footer()},
          {"options", std::move(options)},
          {"commands", std::move(commands)}};
}

}  // namespace

std::string command_tree_json(const CLI::App& cli) { return boost::json::serialize(describe(cli)); }

}  // namespace fenceline::proxy
