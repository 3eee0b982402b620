# lensd_filters(target root): adds the filters in the folders of `root` to a target.
#
# All .cpp files are compiled, and all .cu files in builds with CUDA. A folder with only a header contains
# a PointFilter or WindowFilter. The class has the folder's name in CamelCase; a generated .cu file instantiates its
# CUDA kernel.
# <filters/all.hpp> includes NAME/NAME.hpp of every folder.
function(lensd_filters target root)
  file(GLOB sources CONFIGURE_DEPENDS ${root}/*/*.cpp ${root}/common/*/*.cpp)
  file(GLOB cuda_sources CONFIGURE_DEPENDS ${root}/*/*.cu ${root}/common/*/*.cu)
  file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${root} ${root}/*/*.hpp)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${target})
  set(includes "#pragma once\n")
  foreach(header ${headers})
    get_filename_component(folder ${header} DIRECTORY)
    if(NOT header STREQUAL "${folder}/${folder}.hpp")
      continue()
    endif()
    string(APPEND includes "#include \"kernels/${header}\"\n")
    file(GLOB own ${root}/${folder}/*.cpp ${root}/${folder}/*.cu)
    if(NOT own)
      set(class "")
      string(REPLACE "_" ";" words ${folder})
      foreach(word ${words})
        string(SUBSTRING ${word} 0 1 first)
        string(SUBSTRING ${word} 1 -1 rest)
        string(TOUPPER ${first} first)
        string(APPEND class ${first}${rest})
      endforeach()
      file(CONFIGURE OUTPUT ${generated}/${folder}.cu CONTENT "#include \"kernels/common/row_filter.cuh\"
#include \"kernels/${header}\"
template void lensd::launch_filter<lensd::${class}>(const lensd::PassArgs&, lensd::CudaStream);
")
      list(APPEND cuda_sources ${generated}/${folder}.cu)
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${generated}/filters/all.hpp CONTENT "${includes}")
  target_include_directories(${target} PRIVATE ${generated})
  target_sources(${target} PRIVATE ${sources})
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)  # Highway includes each file once per instruction set
  if(LENSD_HAS_CUDA)
    target_sources(${target} PRIVATE ${cuda_sources})
  endif()
endfunction()
