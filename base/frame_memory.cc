#include "base/frame_memory.h"

#include <array>
#include <new>

namespace fenceline::base {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kReuse = false;
#else
constexpr bool kReuse = true;
#endif

constexpr std::size_t kStepBytes = 128;
constexpr std::size_t kSizes = 16;  // Frames of up to 2 KiB; larger ones are rare.
constexpr std::size_t kMaxFree = 64;

struct FreeFrame {
  FreeFrame* next = nullptr;
};

class FreeFrames {
 public:
  FreeFrames() = default;
  ~FreeFrames() {
    for (Size& size : sizes_) {
      while (size.first != nullptr) {
        ::operator delete(pop(size));
      }
      size.count = kMaxFree;  // What comes after the end of the thread goes to the heap.
    }
  }
  FreeFrames(const FreeFrames&) = delete;
  FreeFrames& operator=(const FreeFrames&) = delete;

  void* take(std::size_t index) {
    Size& size = sizes_[index];
    return size.first == nullptr ? ::operator new((index + 1) * kStepBytes) : pop(size);
  }

  void give_back(void* memory, std::size_t index) {
    Size& size = sizes_[index];
    if (size.count == kMaxFree) {
      ::operator delete(memory);
      return;
    }
    size.first = new (memory) FreeFrame{size.first};
    ++size.count;
  }

 private:
  struct Size {
    FreeFrame* first = nullptr;
    std::size_t count = 0;
  };

  static void* pop(Size& size) {
    FreeFrame* frame = size.first;
    size.first = frame->next;
    --size.count;
    return frame;
  }

  std::array<Size, kSizes> sizes_;
};

thread_local FreeFrames free_frames;

}  // namespace

void* take_frame(std::size_t bytes) {
  const std::size_t index = (bytes - 1) / kStepBytes;
  return kReuse && index < kSizes ? free_frames.take(index) : ::operator new(bytes);
}

void give_back_frame(void* memory, std::size_t bytes) noexcept {
  const std::size_t index = (bytes - 1) / kStepBytes;
  if (kReuse && index < kSizes) {
    free_frames.give_back(memory, index);
  } else {
    ::operator delete(memory);
  }
}

}  // namespace fenceline::base
