# SPDX-License-Identifier: Apache-2.0

# What is installed, and the Debian package (cmake --build build/release --target package, or scripts/package).
include(GNUInstallDirs)
set(doc share/doc/baton)

install(TARGETS baton RUNTIME DESTINATION bin)
install(TARGETS baton-shim RUNTIME DESTINATION libexec/baton)

# The units name the program as it will lie. DESTDIR and the prefix are known when it is installed.
install(CODE "
  foreach(unit system/baton.service system/baton@.service user/baton.service)
    get_filename_component(name \${unit} NAME)
    set(source \"${CMAKE_SOURCE_DIR}/systemd/\${name}\")
    if(unit MATCHES \"^user/\")
      set(source \"${CMAKE_SOURCE_DIR}/systemd/user/\${name}\")
    endif()
    file(READ \"\${source}\" text)
    string(REGEX REPLACE \"(\\nExec[A-Za-z]+=)baton \" \"\\\\1\${CMAKE_INSTALL_PREFIX}/bin/baton \" text \"\${text}\")
    file(WRITE \"${CMAKE_BINARY_DIR}/units/\${unit}\" \"\${text}\")
    get_filename_component(folder \${unit} DIRECTORY)
    file(INSTALL \"${CMAKE_BINARY_DIR}/units/\${unit}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/systemd/\${folder}\")
  endforeach()")
install(FILES systemd/sysusers.conf DESTINATION lib/sysusers.d RENAME baton.conf)
install(FILES systemd/users.conf DESTINATION share/baton/systemd)
install(PROGRAMS notify/mail notify/ntfy notify/slack notify/telegram DESTINATION share/baton/notify)
install(FILES notify/baton_notify.py DESTINATION share/baton/notify)
install(FILES schemas/catalog.json DESTINATION share/baton/schemas)
install(DIRECTORY schemas/ DESTINATION share/baton/schemas FILES_MATCHING PATTERN "*.schema.json"
  PATTERN examples EXCLUDE PATTERN metaschemas EXCLUDE PATTERN prompts EXCLUDE)
install(DIRECTORY adapters/ DESTINATION share/baton/adapters FILES_MATCHING PATTERN "*.yaml")

# Pages keep their places, so that links between them lead somewhere.
install(FILES README.md CHANGELOG.md SECURITY.md LICENSE ${BATON_SPDX} DESTINATION ${doc})
install(DIRECTORY docs DESTINATION ${doc} FILES_MATCHING PATTERN "*.md")
install(FILES systemd/README.md DESTINATION ${doc}/systemd)
install(DIRECTORY schemas DESTINATION ${doc} FILES_MATCHING PATTERN "README.md"
  PATTERN examples EXCLUDE PATTERN metaschemas EXCLUDE PATTERN prompts EXCLUDE PATTERN output EXCLUDE PATTERN lenient EXCLUDE)
install(DIRECTORY examples DESTINATION ${doc} USE_SOURCE_PERMISSIONS)

# What the program prints about itself.
install(CODE "
  set(program \"$<TARGET_FILE:baton>\")
  set(made \"${CMAKE_BINARY_DIR}/installed\")
  execute_process(COMMAND bash \"${CMAKE_SOURCE_DIR}/scripts/manual\" \"\${program}\" \"\${made}/man\" COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB pages \"\${made}/man/*\")
  foreach(page IN LISTS pages)
    string(REGEX MATCH \"[0-9]$\" section \"\${page}\")
    execute_process(COMMAND gzip -9nf \"\${page}\" COMMAND_ERROR_IS_FATAL ANY)
    file(INSTALL \"\${page}.gz\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/share/man/man\${section}\")
  endforeach()
  file(REMOVE_RECURSE \"\${made}/man\")
  foreach(row bash=bash-completion/completions/baton zsh=zsh/vendor-completions/_baton fish=fish/vendor_completions.d/baton.fish)
    string(REPLACE = \";\" row \${row})
    list(GET row 0 shell)
    list(GET row 1 path)
    execute_process(COMMAND \"\${program}\" completions \${shell} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    file(WRITE \"\${made}/\${path}\" \"\${text}\")
    get_filename_component(folder \${path} DIRECTORY)
    file(INSTALL \"\${made}/\${path}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/share/\${folder}\")
  endforeach()")

# --- the Debian package ------------------------------------------------------------------------------
install(FILES packaging/config.yaml DESTINATION /etc/baton COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES packaging/copyright DESTINATION ${doc} COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES packaging/lintian-overrides DESTINATION share/lintian/overrides COMPONENT debian EXCLUDE_FROM_ALL RENAME baton)
# Debian wants a changelog in its own form; what changed stands in CHANGELOG.md.
file(WRITE ${CMAKE_BINARY_DIR}/installed/changelog "baton (${PROJECT_VERSION}) unstable; urgency=medium

  * See /usr/share/doc/baton/CHANGELOG.md.

 -- The baton authors <baton@baton.invalid>  Thu, 01 Jan 2026 00:00:00 +0000
")
execute_process(COMMAND gzip -9nf ${CMAKE_BINARY_DIR}/installed/changelog COMMAND_ERROR_IS_FATAL ANY)
install(FILES ${CMAKE_BINARY_DIR}/installed/changelog.gz DESTINATION ${doc} COMPONENT debian EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME baton)
set(CPACK_PACKAGE_VENDOR "The baton authors")
set(CPACK_PACKAGE_CONTACT "The baton authors <baton@baton.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "start AI agents when their state files call for it, exactly once")
set(CPACK_PACKAGE_DESCRIPTION "baton watches the folders in which AI agents keep JSON state and
messages, checks every file against JSON Schemas as soon as it changes,
and starts or stops the process of the next agent when a status asks for
it: never lost, never twice. Agents are any command line. It runs as a
service of systemd or by hand; the same checks run in pre-commit hooks.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # by dpkg-shlibdeps; CPack finds the programs with file
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "git")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3, pre-commit")
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)  # strips the programs
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/postinst ${CMAKE_SOURCE_DIR}/packaging/prerm
  ${CMAKE_SOURCE_DIR}/packaging/postrm ${CMAKE_SOURCE_DIR}/packaging/conffiles)
# Files below /etc need it: the package lies apart from its places.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
  WORLD_EXECUTE)
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};baton;ALL;/;${CMAKE_BINARY_DIR};baton;debian;/")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/package)
include(CPack)
