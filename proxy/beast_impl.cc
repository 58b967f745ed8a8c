// The one translation unit that holds Beast's code; see BOOST_BEAST_SEPARATE_COMPILATION in
// cmake/FencelineLibraries.cmake.
#include <boost/beast/src.hpp>
