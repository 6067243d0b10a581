# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# tessera_add_man_pages(<subcommand>...): manual pages from what the program says of itself, so it must run here.
function(tessera_add_man_pages)
  find_program(TESSERA_AWK NAMES awk mawk gawk)
  mark_as_advanced(TESSERA_AWK)
  if(NOT TESSERA_AWK OR CMAKE_CROSSCOMPILING OR CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    tessera_report("man pages"
      "no: awk was not found, or the program is built for another machine or a sanitizer")
    return()
  endif()
  set(source ${PROJECT_SOURCE_DIR}/lib/cli/man)
  set(folder ${PROJECT_BINARY_DIR}/share/man/man1)
  string(REPLACE " " "-" pages "${ARGN}")
  list(TRANSFORM pages REPLACE "(.+)" "${folder}/tessera-\\1.1")
  list(PREPEND pages ${folder}/tessera.1)
  add_custom_command(OUTPUT ${pages}
    COMMAND sh ${source}/man_pages.sh $<TARGET_FILE:tessera_cli> ${TESSERA_AWK} ${PROJECT_VERSION} ${folder} ${ARGN}
    DEPENDS tessera_cli ${source}/man_pages.sh ${source}/man_page.awk
    COMMENT "Writing manual pages of tessera" VERBATIM)
  add_custom_target(tessera_cli_man_pages ALL DEPENDS ${pages})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tessera_tools)
endfunction()
