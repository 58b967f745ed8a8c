# What is installed and where: the layout of Debian, because the unit and its sandbox name these
# paths. Makes the .deb with cpack (scripts/package). Not used with sanitizers.

find_package(Python3 3.9 COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  message(STATUS "No Python 3: no manual pages, no completions and no package")
  return()
endif()

set(FENCELINE_MAINTAINER "fenceline maintainers <maintainers@users.noreply.a-seed-57bbbd5a.example>"
    CACHE STRING "Who stands in the package as its maintainer: Name <address>")
set(FENCELINE_PACKAGE_VERSION "${PROJECT_VERSION}" CACHE STRING
    "Version of the package, if it is not that of the project")

# Manual pages and completions from the command line of the build, so that they are never behind it.
set(manuals "${PROJECT_BINARY_DIR}/manuals")
file(GLOB generator CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/packaging/manuals/*.py")
set(generated fenceline.1.gz fenceline.yaml.5.gz changelog.gz fenceline.bash _fenceline
              fenceline.fish)
list(TRANSFORM generated PREPEND "${manuals}/")
add_custom_command(
  OUTPUT ${generated}
  COMMAND Python3::Interpreter -B "${PROJECT_SOURCE_DIR}/packaging/manuals"
          $<TARGET_FILE:fenceline_command_tree> "${FENCELINE_PACKAGE_VERSION}"
          "${FENCELINE_MAINTAINER}" "${manuals}"
  DEPENDS fenceline_command_tree ${generator} "${PROJECT_SOURCE_DIR}/docs/config.md"
          "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
  COMMENT "Manual pages and completions"
  VERBATIM)
add_custom_target(manuals ALL DEPENDS ${generated})
# What the package is made of.
add_custom_target(package_contents DEPENDS fenceline manuals)

install(TARGETS fenceline RUNTIME DESTINATION /usr/bin)
install(FILES packaging/fenceline.service DESTINATION /lib/systemd/system)
install(FILES packaging/fenceline.sysusers DESTINATION /usr/lib/sysusers.d RENAME fenceline.conf)
install(FILES packaging/fenceline.yaml DESTINATION /etc/fenceline)
install(FILES "${manuals}/fenceline.1.gz" DESTINATION /usr/share/man/man1)
install(FILES "${manuals}/fenceline.yaml.5.gz" DESTINATION /usr/share/man/man5)
install(FILES "${manuals}/fenceline.bash" DESTINATION /usr/share/bash-completion/completions
        RENAME fenceline)
install(FILES "${manuals}/_fenceline" DESTINATION /usr/share/zsh/vendor-completions)
install(FILES "${manuals}/fenceline.fish" DESTINATION /usr/share/fish/vendor_completions.d)
install(FILES config/schema.json DESTINATION /usr/share/fenceline)
install(FILES packaging/debian/copyright "${manuals}/changelog.gz"
              docs/README.md docs/api.md docs/config.md docs/failure-modes.md docs/guide.md
              docs/http.md docs/life-of-a-request.md docs/openapi.yaml docs/operations.md
              docs/performance.md docs/proof.md docs/run.md docs/s3.md docs/sources.md docs/sqlite.md
        DESTINATION /usr/share/doc/fenceline)
install(DIRECTORY docs/stories DESTINATION /usr/share/doc/fenceline)
install(FILES config/quickstart.yaml DESTINATION /usr/share/doc/fenceline/examples)

set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY TRUE)  # not every test for a package
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fenceline)
set(CPACK_PACKAGE_VERSION "${FENCELINE_PACKAGE_VERSION}")
set(CPACK_STRIP_FILES TRUE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${FENCELINE_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "storage proxy that refuses writes with an outdated fencing token")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"A worker whose lease ran out may still write: no lock can tell it in time.
fenceline stands in front of the storage, keeps the highest fencing token of
each key durably, and refuses a write whose token was overtaken at the moment
when it would take effect.

It stands in front of files, SQLite, HTTP services and S3-compatible storage,
gives leases whose tokens it fences, and runs commands under a lease; with one
sandboxed systemd service, Prometheus metrics and an admin API.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Who makes the user, in the order of Debian's own helper.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "systemd | systemd-standalone-sysusers | systemd-sysusers")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
foreach(script IN ITEMS conffiles postinst prerm postrm)
  list(APPEND CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/packaging/debian/${script}")
endforeach()
include(CPack)
