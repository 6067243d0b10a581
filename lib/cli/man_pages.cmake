# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# Manual pages from what the program says of itself, so it must run here.
set(commands info gemm stencil system tune "tune gemm" "tune stencil" wisdom "wisdom list" "wisdom check"
  "wisdom merge")

find_program(TESSERA_AWK NAMES awk mawk gawk)
mark_as_advanced(TESSERA_AWK)
if(NOT TESSERA_AWK OR CMAKE_CROSSCOMPILING OR CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  tessera_report("man pages" "no: awk was not found, or the program is built for another machine or a sanitizer")
  return()
endif()
set(folder ${PROJECT_BINARY_DIR}/share/man/man1)
string(REPLACE " " "-" pages "${commands}")
list(TRANSFORM pages REPLACE "(.+)" "${folder}/tessera-\\1.1")
list(PREPEND pages ${folder}/tessera.1)
add_custom_command(OUTPUT ${pages}
  COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/man_pages.sh $<TARGET_FILE:tessera_cli> ${TESSERA_AWK} ${PROJECT_VERSION}
    ${folder} ${commands}
  DEPENDS tessera_cli ${CMAKE_CURRENT_LIST_DIR}/man_pages.sh ${CMAKE_CURRENT_LIST_DIR}/man_page.awk
  COMMENT "Writing manual pages" VERBATIM)
add_custom_target(tessera_man_pages ALL DEPENDS ${pages})
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tessera_tools)
