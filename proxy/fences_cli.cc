#include <CLI/CLI.hpp>
#include <string>

#include "proxy/fences_command.h"

namespace fenceline::proxy {
namespace {

constexpr const char* kHelp = R"(
The admin listener is found by --admin, else in the file of --config, else by the environment
variable FENCELINE_ADMIN. Its bearer token is read from --token-file, else from
FENCELINE_ADMIN_TOKEN, else from the configuration; it is never an argument.

Examples:
  fenceline fences list --config /etc/fenceline/fenceline.yaml --prefix exports/
  fenceline fences show exports/acme --admin http://127.0.0.1:8081 --json
  fenceline fences raise exports/acme --to 40
  fenceline fences reset exports/acme --to 5 --reason 'etcd was restored, ticket 4711'
  fenceline fences settle orders/acme --token 7 --reason 'the upstream was restarted since'

Exit codes:
  0  done
  1  no answer, or the server failed
  2  the command line or the configuration is wrong
  3  refused: the key is unknown, nothing is unsettled, the fence is in use, the mark is another one)";

}  // namespace

CLI::App* add_fences_command(CLI::App& cli, FencesOptions& options) {
  using Command = FencesOptions::Command;
  CLI::App* fences = cli.add_subcommand("fences", "List, show, raise, reset and settle fences");
  fences->require_subcommand(1);
  fences->footer(kHelp);
  const auto add = [&options, fences](const char* name, const char* what, Command command) {
    CLI::App* const added = fences->add_subcommand(name, what);
    added->add_option("--admin", options.admin_url, "The admin listener, as http://host:port")
        ->type_name("URL");
    added->add_option("-c,--config", options.config_file, "The configuration that it serves")
        ->type_name("FILE");
    added->add_option("--token-file", options.token_file, "File with the admin bearer token")
        ->type_name("FILE");
    added->add_option("--timeout", options.timeout_s, "Seconds to wait for an answer, 1 to 3600")
        ->check(CLI::Range(1U, 3600U))
        ->type_name("SECONDS");
    added->add_flag("--json", options.json, "Print what the admin API says, for scripts");
    added->callback([&options, command] { options.command = command; });
    return added;
  };

  CLI::App* list = add("list", "List fences by key", Command::kList);
  list->add_option("--prefix", options.prefix, "Only keys that begin with this")->type_name("TEXT");
  list->add_option("--after", options.after, "Only keys after this one: the next page")
      ->type_name("KEY");
  list->add_option("--limit", options.limit, "How many at most, by default 100; 0: all")
      ->type_name("NUMBER");

  CLI::App* unsettled =
      add("unsettled", "List writes that may still take effect", Command::kUnsettled);
  unsettled->add_option("--prefix", options.prefix, "Only keys that begin with this")
      ->type_name("TEXT");
  unsettled->add_option("--limit", options.limit, "How many at most, by default 100; 0: all")
      ->type_name("NUMBER");

  CLI::App* show =
      add("show", "Show one fence: mark, holder, who is inside, resets", Command::kShow);
  CLI::App* raise = add("raise", "Raise a mark: keeps out older tokens, and waits for their writes",
                        Command::kRaise);
  CLI::App* reset =
      add("reset", "Set a mark back, because the token source starts again", Command::kReset);
  CLI::App* settle =
      add("settle", "Say that writes of a key can take no effect any more", Command::kSettle);
  for (CLI::App* command : {show, raise, reset, settle}) {
    command->add_option("key", options.key, "The fence key")->type_name("KEY")->required();
  }
  for (CLI::App* command : {raise, reset}) {
    command->add_option("--to", options.to, "The token that the mark shall have")
        ->type_name("TOKEN")
        ->required();
  }
  reset->add_option("--reason", options.reason, "Why; kept with the fence")
      ->type_name("TEXT")
      ->required();
  settle->add_option("--reason", options.reason, "Why you know; kept in the log")
      ->type_name("TEXT")
      ->required();
  settle->add_option("--token", options.token, "Only writes with this token; else of all tokens")
      ->type_name("TOKEN");
  reset
      ->add_option("--from", options.from,
                   "Refuse if the mark is not this (the one that is found when asking first)")
      ->type_name("TOKEN");
  return fences;
}

}  // namespace fenceline::proxy
