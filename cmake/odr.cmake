# Target one_definition_rule: links the program into one object without generating code, and fails if two types or functions
# of the same name differ. A link that generates code takes twenty times as long and finds no more. Needs GCC.
add_library(lensd_main OBJECT ${PROJECT_SOURCE_DIR}/app/main.cpp)
target_link_libraries(lensd_main PRIVATE lensd_app)
set(libraries lensd_app lensd_pipeline lensd_bench lensd_ui lensd_control lensd_media lensd_kernels lensd_core)
set(library_files)
foreach(library ${libraries})
  list(APPEND library_files $<TARGET_FILE:${library}>)
endforeach()
add_custom_target(one_definition_rule
  COMMAND ${CMAKE_CXX_COMPILER} -r -flto -flinker-output=rel -Wodr -Werror=odr -Wlto-type-mismatch -Werror=lto-type-mismatch
    -o ${CMAKE_BINARY_DIR}/one_definition_rule.o $<TARGET_OBJECTS:lensd_main> -Wl,--whole-archive ${library_files}
  DEPENDS $<TARGET_OBJECTS:lensd_main> ${libraries}
  COMMAND_EXPAND_LISTS VERBATIM)
