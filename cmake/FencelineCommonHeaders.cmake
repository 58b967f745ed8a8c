# The headers that nearly all files include are compiled once: those of GoogleTest for the tests, and
# under the sanitizers, which build every file once more, those of the product, too. The product as it is
# shipped has none of this, so there each file shows that it includes what it uses.
#
# fenceline_common_headers(<target>)             for a target of the product
# fenceline_common_headers(<target> TESTS)       for tests
# fenceline_common_headers(<target> PLAIN_TESTS) for tests without coroutines
# A compiler takes precompiled headers only with the options that they were made with; so these are set
# here for tests, see fenceline_tests().

set(fenceline_TESTS_options $<$<CONFIG:RelWithDebInfo>:-O1>)
set(fenceline_PLAIN_TESTS_options -O0 -U__cpp_impl_coroutine)

function(fenceline_common_headers target)
  set(kind PRODUCT)
  if(ARGN)
    list(GET ARGN 0 kind)
  endif()
  target_compile_options(${target} PRIVATE ${fenceline_${kind}_options})
  if(TARGET fenceline_headers_${kind})
    target_precompile_headers(${target} REUSE_FROM fenceline_headers_${kind})
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # for ccache
  endif()
endfunction()

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  return()
endif()

file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/common_headers.cc" CONTENT "// Only its headers count.\n")
set(headers <fmt/format.h> <algorithm> <array> <chrono> <cstdint> <functional> <memory> <optional>
            <string> <string_view> <tl/expected.hpp> <utility> <vector>)
set(kinds "")
if(FENCELINE_SANITIZE)
  list(APPEND kinds PRODUCT)
endif()
if(FENCELINE_TESTS)
  find_package(GTest 1.12 REQUIRED)
  list(APPEND kinds TESTS PLAIN_TESTS)
endif()
foreach(kind IN LISTS kinds)
  set(common fenceline_headers_${kind})
  add_library(${common} OBJECT "${PROJECT_BINARY_DIR}/common_headers.cc")
  target_link_libraries(${common} PRIVATE fenceline_options fmt::fmt tl::expected)
  target_compile_options(${common} PRIVATE ${fenceline_${kind}_options})
  target_precompile_headers(${common} PRIVATE ${headers})
  if(NOT kind STREQUAL PRODUCT)
    target_link_libraries(${common} PRIVATE GTest::gtest)
    target_precompile_headers(${common} PRIVATE <gtest/gtest.h>)
  endif()
endforeach()
