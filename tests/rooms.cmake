# What links the rooms that it tests: a program for each of them.

fenceline_tests(base CONCURRENT ROOMS base)
target_compile_definitions(base_tests PRIVATE FENCELINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
# Published signatures that are not ours to ship; tests/base/aws also compares with botocore.
set(vectors "${PROJECT_SOURCE_DIR}/../shared/data/sigv4")
if(TARGET base_tests AND IS_DIRECTORY "${vectors}")
  target_compile_definitions(base_tests PRIVATE FENCELINE_SIGV4_VECTORS="${vectors}")
endif()
# Reads docs/config.md and config/quickstart.yaml.
fenceline_tests(config NO_COROUTINES ROOMS config PROPERTIES
  ENVIRONMENT "FENCELINE_SOURCE_DIR=${PROJECT_SOURCE_DIR}")
fenceline_tests(fencing CONCURRENT ROOMS fencing)
fenceline_tests(backends CONCURRENT ROOMS backends)
fenceline_tests(contract CONCURRENT ROOMS fencing backends)
# Token sources run in front of the real binary and other real servers.
fenceline_tests(client CONCURRENT ROOMS client PROPERTIES
  ENVIRONMENT "FENCELINE_BINARY=${PROJECT_BINARY_DIR}/fenceline")
if(TARGET client_tests AND TARGET fenceline)
  add_dependencies(client_tests fenceline)
endif()
fenceline_tests(proxy CONCURRENT ROOMS proxy)

# The system tests of another build, in front of this one's binary: it is the binary that is sanitized.
# Left out are those that take long and those that look at how much memory the binary takes.
set(FENCELINE_SYSTEM_TESTS "" CACHE FILEPATH "A system_tests to run on this build's binary")
if(FENCELINE_SYSTEM_TESTS)
  set(suites Wire* Reload* ZombieStory* *StoreStory* LeaseStory* Idempotency* StatementsStory* UpstreamTls*
             Stop*)
  list(JOIN suites : suites)
  add_test(NAME system.sanitized
           COMMAND "${FENCELINE_SYSTEM_TESTS}" "--gtest_filter=${suites}-WireLimitTest.*")
  set_tests_properties(system.sanitized PROPERTIES TIMEOUT 900 COST 30 RESOURCE_LOCK real_server
    ENVIRONMENT "FENCELINE_BINARY=${PROJECT_BINARY_DIR}/fenceline")
endif()
