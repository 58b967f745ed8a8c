#pragma once

#include <cstddef>

namespace fenceline::base {

/// Memory for one coroutine frame.
/// Does: takes it from this thread's free frames of about that size; asks the heap only while there
/// are none. Under AddressSanitizer always the heap, so that a frame used too late is found.
/// Failure: throws std::bad_alloc.
/// Concurrency: thread-safe; `give_back_frame` may be called on another thread.
void* take_frame(std::size_t bytes);

/// Gives back what `take_frame(bytes)` gave. A thread keeps a bounded number of free frames.
void give_back_frame(void* memory, std::size_t bytes) noexcept;

}  // namespace fenceline::base
