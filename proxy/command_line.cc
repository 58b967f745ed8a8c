#include "proxy/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string_view>

#include "proxy/commands.h"
#include "proxy/lease_cli.h"

namespace fenceline::proxy {
namespace {

constexpr const char* kHelp = R"(
Examples:
  fenceline serve --config config/quickstart.yaml
  fenceline check --config /etc/fenceline/fenceline.yaml && systemctl reload fenceline

Exit codes:
  0  stopped by SIGTERM or SIGINT; the configuration is right (check)
  1  could not start, or a failure while serving
  2  the command line or the configuration is wrong; every problem is listed)";

void add_config(CLI::App& command, Invocation& invocation) {
  command
      .add_option("-c,--config,config", invocation.config_file, "The configuration, a YAML file")
      ->type_name("FILE")
      ->required();
}

void add_serve(CLI::App& cli, Invocation& invocation) {
  CLI::App* serve_command = cli.add_subcommand("serve", "Serve the routes of a configuration");
  add_config(*serve_command, invocation);
  serve_command->footer(
      "\nStops on SIGTERM or SIGINT: takes no new connections, lets requests finish up to\n"
      "timeouts.shutdown, then cuts them off. A second signal ends it at once.\n"
      "SIGHUP takes configuration and certificates anew, or keeps the old and logs why.\n\n"
      "Example:\n  fenceline serve --config config/quickstart.yaml");
  serve_command->callback(
      [&invocation] { invocation.run = [&invocation] { return serve(invocation.config_file); }; });
}

void add_check(CLI::App& cli, Invocation& invocation) {
  CLI::App* check = cli.add_subcommand("check", "Check a configuration without starting");
  add_config(*check, invocation);
  check->footer(
      "\nPrints every problem as file:line:column, or the routes and what each "
      "guarantees.\n\nExample:\n  fenceline check --config config/quickstart.yaml");
  check->callback([&invocation] {
    invocation.run = [&invocation] { return check_config(invocation.config_file); };
  });
}

void add_lease(CLI::App& cli, Invocation& invocation) {
  CLI::App* lease = add_lease_command(cli, invocation.lease);
  const auto redlock = client::add_redlock_commands(*lease, invocation.redlock);
  // The callback of a command comes after those of its own commands.
  lease->callback([&invocation, redlock] {
    if (redlock.init->parsed() || redlock.resync->parsed()) {
      invocation.run = [&invocation] { return client::run_redlock(invocation.redlock, {}); };
    } else {
      invocation.run = [&invocation] { return client::run_lease_command(invocation.lease); };
    }
  });
}

/// CLI11 would only say that a command is missing. True if it was said better here.
bool complain_about_unknown_command(const CLI::App& cli, std::string_view word) {
  if (word.empty() || word.front() == '-') {
    return false;
  }
  std::string known;
  for (const CLI::App* command : cli.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->check_name(std::string(word))) {
      return false;
    }
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  fmt::print(stderr, "fenceline: there is no command '{}'; there are {}\n", word, known);
  return true;
}

}  // namespace

void define_command_line(CLI::App& cli, Invocation& invocation) {
  cli.name("fenceline");
  cli.description("fenceline: a storage proxy that refuses writes with an outdated fencing token.");
  cli.require_subcommand(1);
  cli.footer(kHelp);
  cli.set_version_flag("--version", FENCELINE_VERSION, "Print the version");
  add_serve(cli, invocation);
  add_check(cli, invocation);
  CLI::App* fences = add_fences_command(cli, invocation.fences);
  fences->callback(
      [&invocation] { invocation.run = [&invocation] { return run_fences(invocation.fences); }; });
  add_run_command(cli, invocation.with_lease)->callback([&invocation] {
    invocation.run = [&invocation] { return client::run_with_lease(invocation.with_lease); };
  });
  add_lease(cli, invocation);
  cli.add_subcommand("version", "Print the version")->callback([&invocation] {
    invocation.run = print_version;
  });
}

int run_command_line(int argc, char** argv) {
  Invocation invocation;
  CLI::App cli;
  define_command_line(cli, invocation);
  if (complain_about_unknown_command(cli, argc > 1 ? argv[1] : "")) {
    return kExitUsage;
  }
  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (cli.exit(error) == 0) {
      return kExitOk;
    }
    // As env(1) and others that run a command: its own exit codes stay below.
    return cli.got_subcommand("run") ? client::kExitRunFailed : kExitUsage;
  }
  return invocation.run();
}

}  // namespace fenceline::proxy
