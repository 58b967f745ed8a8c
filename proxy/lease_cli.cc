#include "proxy/lease_cli.h"

#include <CLI/CLI.hpp>
#include <string>

#include "config/units.h"

namespace fenceline::proxy {
namespace {

constexpr const char* kRunHelp = R"(
The command runs while the lease is held; it is ended (TERM, after --grace KILL, to all of it) before
somebody else can have the lease. It finds its lease in FENCING_TOKEN, FENCING_KEY (FENCING_KEYS: all,
one a line), FENCING_LEASE and FENCING_HOLDER. Signals are forwarded. Nothing of it is left running,
not even if 'fenceline run' is killed.

Sources: fenceline://host:port, redis://, redlock://, etcd://, zookeeper://, postgres://
(docs/run.md). Without --source: FENCELINE_SOURCE, else fenceline://127.0.0.1:8080.

Examples:
  fenceline run --key exports/42 --ttl 30s --wait 1m -- ./export.sh 42
  fenceline run --key exports/42 --source redis://127.0.0.1:6379 -- sh -c \
    'curl -T out.csv -H "Fencing-Token: $FENCING_TOKEN" http://127.0.0.1:8080/exports/42/out.csv'

Exit codes:
  the command's own, or 128 + the signal that ended it
  123  the lease was lost, and the command was ended
  124  others held the key during the whole --wait
  125  fenceline failed: no source, a useless token, a wrong command line
  126  the command cannot be executed
  127  there is no such command)";

constexpr const char* kLeaseHelp = R"HELP(
For scripts that cannot use 'fenceline run'. Who takes a lease by hand must renew it before its ttl
is over, and stop writing when that fails.

Examples:
  eval "$(fenceline lease acquire --key exports/42 --ttl 5m --wait 1m)"
  fenceline lease renew --ttl 5m
  fenceline lease release
  fenceline lease show --key exports/42 --json
  fenceline lease list --prefix exports/

Exit codes:
  0  done
  1  no answer, or the source failed
  2  the command line is wrong, or the source cannot do that
  3  refused: somebody holds the key, or the lease has ended)HELP";

/// Reads a duration as the configuration does.
CLI::Option* add_duration(CLI::App& command, const std::string& name, base::Milliseconds& into,
                          const std::string& description) {
  return command
      .add_option_function<std::string>(
          name,
          [&into, name](const std::string& text) {
            const auto duration = config::parse_duration(text);
            if (!duration) {
              throw CLI::ValidationError(name, duration.error());
            }
            into = *duration;
          },
          description)
      ->type_name("DURATION");
}

void add_source(CLI::App& command, client::LeaseOptions& options) {
  command
      .add_option("--source", options.source,
                  "Where leases come from; else FENCELINE_SOURCE, else fenceline://127.0.0.1:8080")
      ->type_name("URL");
}

CLI::Option* add_keys(CLI::App& command, client::LeaseOptions& options) {
  return command
      .add_option("-k,--key", options.keys,
                  "The key of the lease; several, all or none, where the source can")
      ->type_name("KEY")
      ->expected(1)
      ->take_all()
      // Else it would take the "--" before the command for its own end.
      ->allow_extra_args(false);
}

void add_order(CLI::App& command, client::LeaseOptions& options) {
  add_duration(command, "--ttl", options.ttl,
               "How long the lease is valid without renewal, by default 30s");
  add_duration(command, "--wait", options.wait,
               "How long to wait while others hold it, by default not at all");
  command
      .add_option("--holder", options.holder,
                  "Who takes it, for people who look; by default user@host:process")
      ->type_name("TEXT");
  command
      .add_option("--check", options.check_url,
                  "An admin listener, or a resource of a route, that is asked whether the token is "
                  "above all that were seen")
      ->type_name("URL");
}

}  // namespace

CLI::App* add_run_command(CLI::App& cli, client::RunOptions& options) {
  CLI::App* run = cli.add_subcommand("run", "Run a command while a lease is held");
  add_keys(*run, options.lease)->required();
  add_order(*run, options.lease);
  add_source(*run, options.lease);
  add_duration(*run, "--grace", options.grace,
               "Time between TERM and KILL when the lease is lost, by default 5s; at most a third "
               "of the ttl");
  run->add_flag("--aws", options.aws,
                "Give the command AWS_SESSION_TOKEN=fence-<token>, for S3 clients (docs/s3.md)");
  run->add_option("command", options.command, "The command and its arguments, after --")
      ->type_name("COMMAND")
      ->required();
  run->footer(kRunHelp);
  return run;
}

CLI::App* add_lease_command(CLI::App& cli, client::LeaseCommandOptions& options) {
  using Command = client::LeaseCommandOptions::Command;
  CLI::App* lease = cli.add_subcommand("lease", "Take, renew, release, show and list leases");
  lease->require_subcommand(1);
  lease->footer(kLeaseHelp);
  const auto add = [&options, lease](const char* name, const char* what, Command command) {
    CLI::App* const added = lease->add_subcommand(name, what);
    add_source(*added, options.lease);
    added->add_flag("--json", options.json, "Print JSON, for scripts");
    added->callback([&options, command] { options.command = command; });
    return added;
  };

  CLI::App* acquire = add("acquire", "Take a lease, and print it for eval", Command::kAcquire);
  add_keys(*acquire, options.lease)->required();
  add_order(*acquire, options.lease);

  CLI::App* renew = add("renew", "Make a lease last for its whole ttl from now", Command::kRenew);
  add_duration(*renew, "--ttl", options.lease.ttl, "The ttl that it was taken with");
  CLI::App* release = add("release", "Give a lease back", Command::kRelease);
  for (CLI::App* command : {renew, release}) {
    add_keys(*command, options.lease)->description("Its keys; else FENCING_KEYS");
    command->add_option("--lease", options.id, "Its id; else FENCING_LEASE")->type_name("ID");
    command->add_option("--token", options.token, "Its token; else FENCING_TOKEN")
        ->type_name("TOKEN");
  }

  CLI::App* show = add("show", "Show who holds a key", Command::kShow);
  add_keys(*show, options.lease)->required()->description("The key to look at");

  CLI::App* list = add("list", "List what is held, from a fenceline source", Command::kList);
  list->add_option("--prefix", options.prefix, "Only keys that begin with this")->type_name("TEXT");
  list->add_option("--limit", options.limit, "How many at most, by default 100; 0: all")
      ->type_name("NUMBER");
  return lease;
}

}  // namespace fenceline::proxy
