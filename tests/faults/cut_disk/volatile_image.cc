#include "tests/faults/cut_disk/volatile_image.h"

#include <algorithm>

namespace fenceline::testing {
namespace {

/// How likely a block survives: nothing, everything, or a mixture.
double draw_probability(std::mt19937_64& random) {
  switch (random() % 4) {
    case 0:
      return 0;
    case 1:
      return 1;
    default:
      return std::uniform_real_distribution<double>(0, 1)(random);
  }
}

}  // namespace

std::string_view VolatileImage::read(std::size_t offset, std::size_t bytes) const {
  return std::string_view(current_.data(), current_.size()).substr(offset, bytes);
}

void VolatileImage::write(std::size_t offset, std::string_view data) {
  std::ranges::copy(data, current_.begin() + static_cast<std::ptrdiff_t>(offset));
  unflushed_.push_back({offset, std::string(data)});
}

void VolatileImage::flush() {
  for (const Write& write : unflushed_) {
    std::ranges::copy(write.data, durable_.begin() + static_cast<std::ptrdiff_t>(write.offset));
  }
  unflushed_.clear();
}

VolatileImage::Cut VolatileImage::cut(std::mt19937_64& random) {
  Cut cut{.writes = unflushed_.size()};
  std::bernoulli_distribution survives(draw_probability(random));
  for (const Write& write : unflushed_) {
    std::string_view rest = write.data;
    for (std::size_t at = write.offset; !rest.empty();) {
      const std::string_view block = rest.substr(0, kBlockBytes - at % kBlockBytes);
      ++cut.blocks;
      if (survives(random)) {
        ++cut.kept_blocks;
        std::ranges::copy(block, durable_.begin() + static_cast<std::ptrdiff_t>(at));
      }
      at += block.size();
      rest.remove_prefix(block.size());
    }
  }
  unflushed_.clear();
  current_ = durable_;
  return cut;
}

}  // namespace fenceline::testing
