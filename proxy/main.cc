#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "proxy/commands.h"

namespace {

constexpr const char* kServeHelp = R"(
Examples:
  fenceline serve --config config/quickstart.yaml
  fenceline check --config /etc/fenceline/fenceline.yaml && systemctl restart fenceline

Exit codes:
  0  stopped by SIGTERM or SIGINT; the configuration is right (check)
  1  could not start, or a failure while serving
  2  the command line or the configuration is wrong; every problem is listed)";

int run(int argc, char** argv) {
  CLI::App cli("fenceline: a storage proxy that refuses writes with an outdated fencing token.",
               "fenceline");
  cli.require_subcommand(1);
  cli.footer(kServeHelp);

  std::string config_file;
  const auto with_config = [&config_file](CLI::App* command) {
    command->add_option("-c,--config,config", config_file, "The configuration, a YAML file")
        ->required();
  };
  CLI::App* serve = cli.add_subcommand("serve", "Serve the routes of a configuration");
  with_config(serve);
  serve->footer(
      "\nStops on SIGTERM or SIGINT: takes no new connections, lets requests finish up to\n"
      "timeouts.shutdown, then cuts them off. A second signal ends it at once.\n\n"
      "Example:\n  fenceline serve --config config/quickstart.yaml");
  CLI::App* check = cli.add_subcommand("check", "Check a configuration without starting");
  with_config(check);
  check->footer(
      "\nPrints every problem as file:line:column, or the routes and what each "
      "guarantees.\n\nExample:\n  fenceline check --config config/quickstart.yaml");
  CLI::App* version = cli.add_subcommand("version", "Print the version");
  cli.set_version_flag("--version", FENCELINE_VERSION, "Print the version");

  // CLI11 would only say that a command is missing.
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (!command.empty() && command.front() != '-' && command != "serve" && command != "check" &&
      command != "version") {
    std::fprintf(stderr, "fenceline: there is no command '%s'; there are serve, check, version\n",
                 argv[1]);
    return fenceline::proxy::kExitUsage;
  }

  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli.exit(error) == 0 ? fenceline::proxy::kExitOk : fenceline::proxy::kExitUsage;
  }
  if (version->parsed()) {
    return fenceline::proxy::print_version();
  }
  if (check->parsed()) {
    return fenceline::proxy::check_config(config_file);
  }
  return fenceline::proxy::serve(config_file);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fenceline: %s\n", error.what());
    return fenceline::proxy::kExitFailure;
  }
}
