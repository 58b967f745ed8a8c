# Language level, compiler cache and linker. Nothing here changes what the code means.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

# Coroutines of libstdc++ ask for a macro that clang before 17 does not set, although it has them.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 17)
  add_compile_definitions(__cpp_impl_coroutine=201902L)
endif()

# Paths in objects are relative to the repository. Together with CCACHE_BASEDIR this lets two
# clones in different folders share one cache.
add_compile_options("-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.")

find_program(FENCELINE_CCACHE ccache)
if(FENCELINE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros  # what it asks for with precompiled headers
      "${FENCELINE_CCACHE}")
endif()

# The first of mold and lld that is installed; otherwise the compiler's own choice.
find_program(FENCELINE_MOLD mold)
find_program(FENCELINE_LLD ld.lld)
if(FENCELINE_MOLD)
  add_link_options(-fuse-ld=mold)
elseif(FENCELINE_LLD)
  add_link_options(-fuse-ld=lld)
endif()
