#pragma once

#include <sys/types.h>

#include <vector>

namespace fenceline::client {

/// Makes this process the one that orphans below it come to (PR_SET_CHILD_SUBREAPER), so that no
/// descendant can get away from it, whatever sessions it makes.
void adopt_orphans();

/// The processes whose parent is this one, from /proc; those that have ended and were not waited
/// for are among them.
std::vector<pid_t> children();

/// Sends `signal` to all of the group `leader`, and to the children of this process that have left
/// it. `leader` must not have been waited for, so that its number is nobody else's.
void signal_all(pid_t leader, int signal);

/// Waits, without blocking, for every child that has ended, except `leader`. True if no other child
/// is left.
bool reap_all_but(pid_t leader);

/// Kills every child but `spared` and all that comes to this process, and waits for them. Only for
/// a process that adopts orphans and wants to have none left. `spared`: those that were there
/// before, as of a shell that became this process. Ends what it may; one that it may not kill is
/// left.
void kill_all_children(const std::vector<pid_t>& spared);

}  // namespace fenceline::client
