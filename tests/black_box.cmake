# What runs the real binary, or stands in front of real servers; and what looks at files.

# Compares config/schema.json with the loader of the real binary.
add_test(NAME config.schema
         COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/config/schema_test.py"
                 "${PROJECT_BINARY_DIR}/fenceline")
# Thousands of short runs of the binary: not again under a sanitizer, as the clients of tests/clients.
set_tests_properties(config.schema PROPERTIES TIMEOUT 300 LABELS clients)

# The S3 backend in front of real servers. Starting one takes seconds, so all tests in front of the
# same server are one test of ctest.
file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/s3_servers/*.cc")
add_executable(s3_servers_tests ${sources} backends/http/http_driver.cc backends/s3/s3_driver.cc)
target_link_libraries(s3_servers_tests PRIVATE
  fenceline_options fenceline_testing fenceline_backends GTest::gmock_main)
fenceline_common_headers(s3_servers_tests TESTS)
set(s3_servers Radosgw)
if(FENCELINE_MOTO_SERVER)
  list(APPEND s3_servers Moto)
else()
  message(STATUS "moto_server is not installed: the tests in front of it are LEFT OUT")
endif()
foreach(server IN LISTS s3_servers)
  add_test(NAME s3_servers.${server} COMMAND s3_servers_tests "--gtest_filter=${server}*")
  set_tests_properties(s3_servers.${server} PROPERTIES TIMEOUT 600 COST 10)
endforeach()

# Token sources in front of real servers, of which some start slowly: one test of ctest for each.
file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/source_servers/*.cc"
     "${CMAKE_CURRENT_SOURCE_DIR}/client/source_contract*.cc")
add_executable(source_servers_tests ${sources})
target_link_libraries(source_servers_tests PRIVATE
  fenceline_options fenceline_testing fenceline_client GTest::gmock_main)
fenceline_common_headers(source_servers_tests TESTS)
foreach(server Postgres Etcd ZooKeeper)
  add_test(NAME source_servers.${server}
           COMMAND source_servers_tests "--gtest_filter=${server}*")
  set_tests_properties(source_servers.${server} PROPERTIES TIMEOUT 600 COST 10)
endforeach()

# System tests start the real binary, by the path in FENCELINE_BINARY: one such test at a time, beside
# tests that do not. ctest begins with the highest COST: what waits most, so that it is not left alone at
# the end.
fenceline_tests(system NO_COROUTINES ROOMS proxy TIMEOUT_S 600 PROPERTIES
  RESOURCE_LOCK real_server COST 20 ENVIRONMENT "FENCELINE_BINARY=${PROJECT_BINARY_DIR}/fenceline")
if(TARGET system_tests)
  target_compile_definitions(system_tests PRIVATE
    FENCELINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    FENCELINE_STOP_BEFORE_SEND="$<TARGET_FILE:stop_before_send>")
  add_dependencies(system_tests stop_before_send)
endif()
if(TARGET system_tests AND TARGET fenceline)
  add_dependencies(system_tests fenceline)
endif()

# Compares docs/openapi.yaml with the real server.
add_test(NAME system.openapi
         COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/openapi_test.py"
                 "${PROJECT_BINARY_DIR}/fenceline")
set_tests_properties(system.openapi PROPERTIES TIMEOUT 300)

# The fault campaign, in its short form; scripts/campaign runs the long one. It shares the clients and
# the server of the system tests.
add_subdirectory(faults)
fenceline_tests(campaign NO_COROUTINES ROOMS client TIMEOUT_S 300 PROPERTIES
  RESOURCE_LOCK real_server COST 20 ENVIRONMENT "FENCELINE_BINARY=${PROJECT_BINARY_DIR}/fenceline")
target_sources(campaign_tests PRIVATE
  faults/cut_disk/volatile_image.cc
  system/files_server.cc system/recorded_clients.cc system/recorded_request.cc
  client/fenceline_server.cc client/redis_server.cc source_servers/engine_process.cc
  source_servers/etcd_server.cc source_servers/postgres_server.cc source_servers/zookeeper_server.cc)
target_link_libraries(campaign_tests PRIVATE SQLite::SQLite3)
target_compile_definitions(campaign_tests PRIVATE
  FENCELINE_CUT_DISK="$<TARGET_FILE:cut_disk>" FENCELINE_PRELOAD="$<TARGET_FILE:faults>"
  FENCELINE_TAKEOVER_WORKER="$<TARGET_FILE:takeover_worker>")
add_dependencies(campaign_tests fenceline cut_disk faults takeover_worker)

add_test(NAME packaging
         COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/packaging/packaging_test.py"
                 "${PROJECT_BINARY_DIR}/fenceline")
set_tests_properties(packaging PROPERTIES TIMEOUT 120)
if(TARGET manuals)
  add_test(NAME packaging.manuals
           COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/packaging/manuals_test.py"
                   "${PROJECT_BINARY_DIR}/fenceline" "${PROJECT_BINARY_DIR}/manuals")
  set_tests_properties(packaging.manuals PROPERTIES TIMEOUT 120)
  # Needs root, or sudo: it installs the package on a copy of the system, which ends with the test.
  add_test(NAME packaging.package
           COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/packaging/package_test.py"
                   "${PROJECT_BINARY_DIR}")
  set_tests_properties(packaging.package PROPERTIES TIMEOUT 300)
endif()

add_subdirectory(lint)

# The models do not depend on the build, so once is enough: not again under a sanitizer. Without spin
# there is nothing to register; scripts/test installs it.
find_program(FENCELINE_SPIN spin)
if(FENCELINE_SPIN AND NOT FENCELINE_SANITIZE)
  add_test(NAME model.gate COMMAND "${PROJECT_SOURCE_DIR}/scripts/models")
  set_tests_properties(model.gate PROPERTIES TIMEOUT 300 PROCESSORS 2)
endif()

if(CMAKE_BUILD_TYPE STREQUAL RelWithDebInfo AND NOT FENCELINE_SANITIZE)
  add_subdirectory(bench)
  add_subdirectory(clients)
endif()
