// Prints the command line of fenceline as JSON, for packaging/manuals. Not installed.

#include <CLI/CLI.hpp>
#include <cstdio>

#include "proxy/command_line.h"
#include "proxy/command_tree.h"

int main() {
  fenceline::proxy::Invocation invocation;
  CLI::App cli;
  fenceline::proxy::define_command_line(cli, invocation);
  return std::puts(fenceline::proxy::command_tree_json(cli).c_str()) < 0 ? 1 : 0;
}
