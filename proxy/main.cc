#include <cstdio>
#include <exception>

#include "proxy/command_line.h"
#include "proxy/commands.h"

int main(int argc, char** argv) {
  try {
    return fenceline::proxy::run_command_line(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fenceline: %s\n", error.what());
    return fenceline::proxy::kExitFailure;
  }
}
