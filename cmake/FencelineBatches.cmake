# fenceline_batches(<list of sources> <name>)
#
# With FENCELINE_BATCH_SIZE above 1 it replaces the .cc files in the list by batches of so many, in
# the build folder (batches.py says how, and which files stay by themselves). Parsing headers and
# instantiating templates is most of what a file costs; a batch pays it once. Editing one file
# compiles its batch again, so only the presets of the sanitizers and the fuzzers have it; the
# release build compiles every file by itself.

set(FENCELINE_BATCH_SIZE 0 CACHE STRING "How many .cc files are compiled as one; 0: each by itself")

if(FENCELINE_BATCH_SIZE GREATER 1)
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ takes what #line names for a header, where a type without linkage would be a mistake.
    target_compile_options(fenceline_options INTERFACE -Wno-subobject-linkage)
  endif()
endif()

function(fenceline_batches list name)
  if(NOT FENCELINE_BATCH_SIZE GREATER 1)
    return()
  endif()
  set(script "${PROJECT_SOURCE_DIR}/cmake/batches.py")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${script}" ${${list}})
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" -B "${script}" "${PROJECT_SOURCE_DIR}"
            "${PROJECT_BINARY_DIR}/batches/${name}" ${FENCELINE_BATCH_SIZE} ${${list}}
    OUTPUT_VARIABLE compiled OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" compiled "${compiled}")
  set(${list} "${compiled}" PARENT_SCOPE)
endfunction()
