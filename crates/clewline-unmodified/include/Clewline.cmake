# clewline_add_test(TARGET [EXPLORE_OPTION]…): a test that explores the executable TARGET.
#
# include(Clewline) in a project that is configured with the toolchain file beside this one, or with
# -DCMAKE_C_COMPILER="clewline;cc": then TARGET is built by `clewline cc`, and `ctest` explores it.
# With another compiler, the sources of TARGET are compiled by `clewline cc` when the test runs.
find_program(CLEWLINE clewline REQUIRED)
# As FindClewline.cmake or ClewlineConfig.cmake, it is what find_package(Clewline) finds.
set(Clewline_FOUND TRUE)

function(clewline_add_test target)
  if("${CMAKE_C_COMPILER};${CMAKE_C_COMPILER_ARG1}" MATCHES "clewline")
    add_test(NAME clewline.${target} COMMAND ${CLEWLINE} run $<TARGET_FILE:${target}> ${ARGN})
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  list(TRANSFORM sources PREPEND "${folder}/" REGEX "^[^/$]")
  set(includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  add_test(NAME clewline.${target} COMMAND_EXPAND_LISTS COMMAND ${CLEWLINE} cc ${sources}
    "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>" "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>" ${ARGN})
endfunction()
