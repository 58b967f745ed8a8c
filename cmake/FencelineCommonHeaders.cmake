# fenceline_common_headers(<target> [TESTS]): under the sanitizers, which build every file once more, the
# headers that nearly all files include are compiled once (with TESTS: those of GoogleTest, too). The
# release build has none of this, so there each file shows that it includes what it uses.

if(NOT FENCELINE_SANITIZE OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  function(fenceline_common_headers)
  endfunction()
  return()
endif()

set(headers <fmt/format.h> <algorithm> <array> <chrono> <cstdint> <functional> <memory> <optional>
            <string> <string_view> <tl/expected.hpp> <utility> <vector>)
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/common_headers.cc" CONTENT "// Only its headers count.\n")

add_library(fenceline_common_headers OBJECT "${PROJECT_BINARY_DIR}/common_headers.cc")
target_link_libraries(fenceline_common_headers PRIVATE fenceline_options fmt::fmt tl::expected)
target_precompile_headers(fenceline_common_headers PRIVATE ${headers})
if(FENCELINE_TESTS)
  find_package(GTest 1.12 REQUIRED)
  add_library(fenceline_common_test_headers OBJECT "${PROJECT_BINARY_DIR}/common_headers.cc")
  target_link_libraries(fenceline_common_test_headers PRIVATE
    fenceline_options fmt::fmt tl::expected GTest::gtest)
  target_precompile_headers(fenceline_common_test_headers PRIVATE ${headers} <gtest/gtest.h>)
endif()

function(fenceline_common_headers target)
  set(from fenceline_common_headers)
  if("TESTS" IN_LIST ARGN)
    set(from fenceline_common_test_headers)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${from})
  target_compile_options(${target} PRIVATE -fpch-preprocess)  # for ccache
endfunction()
