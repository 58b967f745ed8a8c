#pragma once

#include <boost/json/string_view.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace fenceline::base {

/// What `boost::json::basic_parser` tells while it reads, taken and forgotten. A handler derives
/// from it and hides what it wants to know; the parser calls by the handler's own type, so nothing
/// here is virtual.
class JsonEvents {
 public:
  // NOLINTBEGIN(readability-identifier-naming): the names that the parser asks for.
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();
  // NOLINTEND(readability-identifier-naming)

  bool on_document_begin(boost::system::error_code& /*error*/) { return true; }
  bool on_document_end(boost::system::error_code& /*error*/) { return true; }
  bool on_object_begin(boost::system::error_code& /*error*/) { return true; }
  bool on_object_end(std::size_t /*members*/, boost::system::error_code& /*error*/) { return true; }
  bool on_array_begin(boost::system::error_code& /*error*/) { return true; }
  bool on_array_end(std::size_t /*values*/, boost::system::error_code& /*error*/) { return true; }
  bool on_key_part(boost::json::string_view /*part*/, std::size_t /*size*/,
                   boost::system::error_code& /*error*/) {
    return true;
  }
  bool on_key(boost::json::string_view /*part*/, std::size_t /*size*/,
              boost::system::error_code& /*error*/) {
    return true;
  }
  bool on_string_part(boost::json::string_view /*part*/, std::size_t /*size*/,
                      boost::system::error_code& /*error*/) {
    return true;
  }
  bool on_string(boost::json::string_view /*part*/, std::size_t /*size*/,
                 boost::system::error_code& /*error*/) {
    return true;
  }
  bool on_number_part(boost::json::string_view /*part*/, boost::system::error_code& /*error*/) {
    return true;
  }
  bool on_int64(std::int64_t /*number*/, boost::json::string_view /*digits*/,
                boost::system::error_code& /*error*/) {
    return true;
  }
  bool on_uint64(std::uint64_t /*number*/, boost::json::string_view /*digits*/,
                 boost::system::error_code& /*error*/) {
    return true;
  }
  bool on_double(double /*number*/, boost::json::string_view /*digits*/,
                 boost::system::error_code& /*error*/) {
    return true;
  }
  bool on_bool(bool /*value*/, boost::system::error_code& /*error*/) { return true; }
  bool on_null(boost::system::error_code& /*error*/) { return true; }
  bool on_comment_part(boost::json::string_view /*part*/, boost::system::error_code& /*error*/) {
    return true;
  }
  bool on_comment(boost::json::string_view /*part*/, boost::system::error_code& /*error*/) {
    return true;
  }

 protected:
  JsonEvents() = default;
};

}  // namespace fenceline::base
