# fenceline_room(<name> [DEPENDS <room>…] [LIBRARIES <target>…])
#
# Makes the library fenceline_<name> from every .cc file below the calling folder; main.cc and
# …_main.cc are left out, they become executables. A room without a .cc file yet is an INTERFACE
# library. DEPENDS names the rooms whose headers this one may include (scripts/lint/includes.py
# checks that), LIBRARIES the third-party targets; both are passed on to whoever links the room.
#
# Every header compiles on its own. Where there is a .cc file of its name, that file includes it first
# (scripts/lint/includes.py checks that), so building the room shows it. For each other header the
# target verify_headers has a translation unit that includes nothing else.

add_custom_target(verify_headers COMMENT "Every header compiles on its own")

function(fenceline_room name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "fenceline_room(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  list(FILTER sources EXCLUDE REGEX "[/_]main\\.cc$")

  set(target "fenceline_${name}")
  if(sources)
    add_library(${target} STATIC ${sources})
    target_link_libraries(${target} PRIVATE fenceline_options)
    fenceline_common_headers(${target})
    set(scope PUBLIC)
    add_dependencies(product ${target})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} "${PROJECT_SOURCE_DIR}")
  list(TRANSFORM arg_DEPENDS PREPEND "fenceline_")
  target_link_libraries(${target} ${scope} ${arg_DEPENDS} ${arg_LIBRARIES})

  fenceline_verify_headers(${name} ${target})
endfunction()

# One object per header without a .cc file of its name below the calling folder, compiled with what
# ${target} passes on.
function(fenceline_verify_headers name target)
  file(GLOB_RECURSE headers RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS
       "${CMAKE_CURRENT_SOURCE_DIR}/*.h")
  set(units "")
  foreach(header IN LISTS headers)
    string(REGEX REPLACE "\\.h$" ".cc" own "${header}")
    if(EXISTS "${PROJECT_SOURCE_DIR}/${own}")
      continue()
    endif()
    set(unit "${PROJECT_BINARY_DIR}/verify_headers/${header}.cc")
    # Real objects and not -fsyntax-only: ninja needs an output and ccache something to keep.
    file(CONFIGURE OUTPUT "${unit}" @ONLY
         CONTENT "#include \"@header@\"\n#include \"@header@\"  // the guard holds\n")
    list(APPEND units "${unit}")
  endforeach()
  if(units)
    add_library(verify_headers_${name} OBJECT EXCLUDE_FROM_ALL ${units})
    target_link_libraries(verify_headers_${name} PRIVATE fenceline_options ${target})
    target_compile_options(verify_headers_${name} PRIVATE -O0 -g0)
    add_dependencies(verify_headers verify_headers_${name})
  endif()
endfunction()
