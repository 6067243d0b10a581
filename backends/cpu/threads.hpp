// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The threads that a parallel region may have. OpenMP ends the process where it cannot create one, and waits for ever
/// for those that a fork has left behind.
#pragma once

namespace tessera::cpu {

/// Most threads of a plan.
inline constexpr int kMostThreads = 1024;

/// To be called before anything else here: from then on forks are noticed. Throws where that is impossible.
void watch_forks();
/// Whether this process was forked from one that had more threads than the one that forked it.
bool threads_lost();

/// The largest team that the calling thread has been found able to gather. OpenMP keeps threads for each thread that
/// opens regions.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local int proven_threads;

/// Finds out whether the calling thread can gather a team of `wanted`, more than proven_threads.
int prove_threads(int wanted);

/// How many of `wanted` threads, at most kMostThreads, a region of the calling thread may have, itself among them. As
/// many as wanted but where threads cannot be created, and 1 where they were lost.
inline int usable_threads(int wanted) { return wanted <= proven_threads ? wanted : prove_threads(wanted); }

/// How many threads, at most `count`, can be created beside those that there are. Looks by creating them.
int creatable_threads(int count);
/// Starts a thread with a stack like OpenMP's, which ends by itself. False where the system refuses.
bool start_thread(void* (*routine)(void*), void* argument);

}  // namespace tessera::cpu
