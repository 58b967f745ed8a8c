// The one translation unit that holds Asio's code; see BOOST_ASIO_SEPARATE_COMPILATION in
// cmake/FencelineLibraries.cmake. Everyone else only parses the declarations.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
