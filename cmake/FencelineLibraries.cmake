# Every third-party library, all from Debian 12 (see scripts/packages).

find_package(Threads REQUIRED)
find_package(Boost 1.81 CONFIG REQUIRED COMPONENTS headers json url)
find_package(OpenSSL 3.0 REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
find_package(yaml-cpp 0.7 CONFIG REQUIRED)
find_package(fmt 9 CONFIG REQUIRED)
find_package(spdlog 1.10 CONFIG REQUIRED)
find_package(CLI11 2.1 CONFIG REQUIRED)
find_package(tl-expected CONFIG REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
find_package(PostgreSQL 15 REQUIRED)

# Asio is compiled once, in base/asio_impl.cc, and Beast once, in proxy/beast_impl.cc. The macros
# change what the headers define, so every file that sees Asio must see the same ones.
add_library(fenceline_asio INTERFACE)
target_compile_definitions(fenceline_asio INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION
  BOOST_BEAST_SEPARATE_COMPILATION
  BOOST_ASIO_NO_DEPRECATED
  # How many operations each thread keeps the memory of for the next request.
  BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE=16
  # Only C++20 coroutines: keeps Boost.Coroutine and Boost.Context out of headers and link.
  BOOST_ASIO_DISABLE_BOOST_COROUTINE
  BOOST_ASIO_DISABLE_BOOST_CONTEXT_FIBER)
target_link_libraries(fenceline_asio INTERFACE
  Boost::headers OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
