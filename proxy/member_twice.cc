#include "proxy/member_twice.h"

#include <boost/json/basic_parser_impl.hpp>
#include <set>
#include <utility>

#include "base/json_events.h"

namespace fenceline::proxy {
namespace {

namespace json = boost::json;
using boost::system::error_code;

/// Called by the parser; only the names on the first level are of interest.
class Names : public base::JsonEvents {
 public:
  std::optional<std::string> twice;

  bool on_key_part(json::string_view part, std::size_t /*size*/, error_code& /*error*/) {
    name_.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, std::size_t /*size*/, error_code& error) {
    name_.append(part.data(), part.size());
    std::string name = std::exchange(name_, {});
    if (depth_ != 1 || seen_.insert(name).second) {
      return true;
    }
    twice = std::move(name);
    error = make_error_code(boost::system::errc::invalid_argument);
    return false;
  }

  bool on_object_begin(error_code& /*error*/) { return deeper(); }
  bool on_object_end(std::size_t /*members*/, error_code& /*error*/) { return higher(); }
  bool on_array_begin(error_code& /*error*/) { return deeper(); }
  bool on_array_end(std::size_t /*values*/, error_code& /*error*/) { return higher(); }

 private:
  bool deeper() {
    ++depth_;
    return true;
  }
  bool higher() {
    --depth_;
    return true;
  }

  int depth_ = 0;
  std::string name_;  ///< What has come of one.
  std::set<std::string> seen_;
};

}  // namespace

std::optional<std::string> member_given_twice(std::string_view text) {
  json::basic_parser<Names> parser{json::parse_options{}};
  error_code error;
  parser.write_some(false, text.data(), text.size(), error);
  return std::move(parser.handler().twice);
}

}  // namespace fenceline::proxy
