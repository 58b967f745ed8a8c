# fenceline_options: the warnings and sanitizers that every target of ours is compiled with.
# Third-party headers come in as SYSTEM (imported targets) and are not subject to them.

add_library(fenceline_options INTERFACE)
target_compile_options(fenceline_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  $<$<BOOL:${FENCELINE_WERROR}>:-Werror>)

# g++ 12 reports `"text" + std::string` as overlapping memory (GCC PR 105651): a false alarm.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(fenceline_options INTERFACE -Wno-restrict)
endif()

# clang's -Wconversion is also -Wsign-conversion, which g++ leaves out and we do not write for.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(fenceline_options INTERFACE -Wno-sign-conversion)
endif()

if(FENCELINE_SANITIZE)
  set(flags "-fsanitize=${FENCELINE_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Sanitized code is instrumented before the flow analysis runs, which then sees values as
    # uninitialized, or out of bounds, that are not; the release build keeps these warnings.
    list(APPEND flags -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow
         -Wno-stringop-overread)
    if(FENCELINE_SANITIZE MATCHES "thread")
      # Asio uses std::atomic_thread_fence, which TSan does not model and g++ warns about.
      list(APPEND flags -Wno-tsan)
    endif()
  endif()
  target_compile_options(fenceline_options INTERFACE ${flags})
  target_link_options(fenceline_options INTERFACE "-fsanitize=${FENCELINE_SANITIZE}")
endif()
