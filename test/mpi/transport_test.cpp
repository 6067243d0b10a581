// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// tessera/mpi.hpp alone, by mpiexec. The scenarios `all` and `threads` end with 0 where all is well; `leaves` fails.

#include "group.hpp"
#include "random.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace tessera::test {

Group::Group(MPI_Comm communicator, std::uint64_t largest_piece) {
  char message[512] = {};
  tessera_error error{sizeof error, TESSERA_OK, 0, message, sizeof message};
  require(mpi::detail::create(communicator, largest_piece, &transport_, &error) == TESSERA_OK, message);
}

namespace {

/// What transport() throws.
Result refusal(MPI_Comm communicator) {
  try {
    const tessera_transport made = mpi::transport(communicator);
    made.destroy(made.state);
  } catch (const Error& e) {
    return {static_cast<tessera_status>(e.code()), e.what()};
  }
  return {TESSERA_OK, ""};
}

std::vector<unsigned char> bytes_of(std::uint64_t number, std::size_t bytes) {
  std::vector<unsigned char> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = byte_of(number, i);
  return data;
}

void test_collectives(const Group& group, const std::vector<std::size_t>& sizes) {
  std::uint64_t number = 0;
  for (const std::size_t bytes : sizes) {
    const std::string what = std::to_string(bytes) + " bytes";
    for (int root = 0; root < group.size(); ++root) {
      auto data = bytes_of(++number + (group.rank() == root ? 0 : 1000), bytes);
      require_ok(group.broadcast(data.data(), bytes, root), "broadcast of " + what);
      require(data == bytes_of(number, bytes), "broadcast of " + what + " is wrong");
    }
    std::vector<unsigned char> all(bytes * std::size_t(group.size()) + 1, 1);
    const auto mine = bytes_of(std::uint64_t(group.rank()), bytes);
    require_ok(group.all_gather(mine.data(), all.data(), bytes), "gathering " + what);
    for (int rank = 0; rank < group.size(); ++rank) {
      const auto theirs = bytes_of(std::uint64_t(rank), bytes);
      require(bytes == 0 || std::memcmp(all.data() + bytes * std::size_t(rank), theirs.data(), bytes) == 0,
              what + " of rank " + std::to_string(rank) + " were gathered wrongly");
    }
    require(all.back() == 1, "gathering " + what + " wrote behind the last rank's");
  }
}

/// What the program sends through its own communicator is no matter of the group's, and the other way round.
void test_own_communicator() {
  Group group(MPI_COMM_WORLD);
  int mine = group.rank(), theirs = -1;
  MPI_Request request;
  MPI_Irecv(&theirs, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  exchange(group, 100, 100000);
  MPI_Send(&mine, 1, MPI_INT, (mine + 1) % group.size(), 5, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  require(theirs == (mine + group.size() - 1) % group.size(), "the program has received a message of the group");

  MPI_Errhandler handler;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  require(handler == MPI_ERRORS_ARE_FATAL, "the program's communicator handles errors in another way");
  MPI_Errhandler_free(&handler);
}

/// Ranks in another order, in two halves; and what is no group.
void test_communicators() {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm half, pair;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  {
    Group group(half);
    int expected = 0;
    MPI_Comm_rank(half, &expected);
    require(group.rank() == expected && group.size() == (size + 1 - rank % 2) / 2, "ranks of a part are wrong");
    test_collectives(group, {100});
    const Comm comm = mpi::comm(half);
    require(comm.rank() == expected && comm.size() == group.size(), "ranks of a Comm are wrong");
  }
  // The last rank of each half leads it.
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 == 0 ? size / 2 * 2 - 1 : (size - 1) / 2 * 2, 9, &pair);
  require(refusal(pair).is(TESSERA_INVALID_ARGUMENT, "MPI_Intercomm_merge"), "an intercommunicator was accepted");
  require(refusal(MPI_COMM_NULL).is(TESSERA_INVALID_ARGUMENT, "MPI_COMM_NULL"), "MPI_COMM_NULL was accepted");
  require(refusal(MPI_COMM_SELF).status == TESSERA_OK, "MPI_COMM_SELF was refused");
  MPI_Comm_free(&pair);
  MPI_Comm_free(&half);
}

/// Lets MPI return the program's errors: MPICH takes those of MPI_Wait for such.
class ReturnedErrors {
 public:
  ReturnedErrors() { MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); }
  ~ReturnedErrors() { MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL); }
  ReturnedErrors(const ReturnedErrors&) = delete;
  ReturnedErrors& operator=(const ReturnedErrors&) = delete;
};

/// `misuse` fails, and the group with it: what is on its way is given up and nobody waits for it.
void test_failure(const std::function<Result(const Group&)>& misuse, tessera_status status, const std::string& part) {
  Group group(MPI_COMM_WORLD);
  const ReturnedErrors returned;
  std::vector<unsigned char> memory(100);
  void *never = nullptr, *again = nullptr;
  require_ok(group.receive(memory.data(), 100, group.rank(), 99, &never), "a message that never comes");
  const Result result = misuse(group);
  require(result.is(status, part),
          "status " + std::to_string(result.status) + ", not '" + part + "': " + result.message);
  require(group.wait(never).is(TESSERA_DEVICE_ERROR, "failed before"), "wait went on after a failure");
  require(group.send(memory.data(), 1, 0, 0, &again).is(TESSERA_DEVICE_ERROR, "failed before"),
          "send went on after a failure");
  require(group.broadcast(memory.data(), 1, 0).is(TESSERA_DEVICE_ERROR, "failed before"),
          "broadcast went on after a failure");
}

Result to_myself(const Group& group, std::size_t sent, std::size_t received) {
  static unsigned char from[100], to[100];
  void *send = nullptr, *receive = nullptr;
  require_ok(group.send(from, sent, group.rank(), 3, &send), "send");
  require_ok(group.receive(to, received, group.rank(), 3, &receive), "receive");
  const Result result = group.wait(receive);
  group.wait(send);
  return result;
}

void test_failures() {
  static int value = 0;
  void* request = nullptr;
  const auto send = [&](int peer, int tag) {
    return [=](const Group& group) mutable { return group.send(&value, 4, peer, tag, &request); };
  };
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::string ranks = ": must lie in [0, " + std::to_string(size) + ")";
  test_failure(send(size, 0), TESSERA_INVALID_ARGUMENT, "peer = " + std::to_string(size) + ranks);
  test_failure(send(-1, 0), TESSERA_INVALID_ARGUMENT, "peer = -1" + ranks);  // a wildcard or nobody
  test_failure(send(-2, 0), TESSERA_INVALID_ARGUMENT, "peer = -2" + ranks);
  test_failure(send(0, -1), TESSERA_INVALID_ARGUMENT, "tag = -1: must lie in [0, ");
  test_failure([&](const Group& group) { return group.receive(&value, 4, size, 0, &request); },
               TESSERA_INVALID_ARGUMENT, "peer = " + std::to_string(size) + ranks);
  test_failure([&](const Group& group) { return group.broadcast(&value, 4, -1); }, TESSERA_INVALID_ARGUMENT,
               "root = -1" + ranks);
  test_failure([](const Group& group) { return group.wait(nullptr); }, TESSERA_INVALID_ARGUMENT, "request: belongs to");
  test_failure([](const Group& group) { return to_myself(group, 10, 5); }, TESSERA_DEVICE_ERROR,
               "MPI_Wait of 5 bytes from rank ");
  test_failure([](const Group& group) { return to_myself(group, 10, 5); }, TESSERA_DEVICE_ERROR, "runcated");
  test_failure([](const Group& group) { return to_myself(group, 5, 10); }, TESSERA_INTERNAL,
               " with tag 3; the message is shorter");
  test_failure([](const Group& group) { return to_myself(group, 0, 10); }, TESSERA_INTERNAL,
               " with tag 3; the message is shorter");
}

/// A thread other than the one that initialized MPI.
void test_other_thread() {
  int level = 0;
  MPI_Query_thread(&level);
  if (level >= MPI_THREAD_SERIALIZED) return;  // more than it was asked for
  Result made{}, used{};
  Group group(MPI_COMM_WORLD), kept(MPI_COMM_WORLD);
  std::thread([&] {
    int value = 0;
    used = group.broadcast(&value, 4, 0);
    made = refusal(MPI_COMM_SELF);
    kept.destroy();  // its communicator lives on
  }).join();
  require(used.is(TESSERA_INVALID_ARGUMENT, "MPI_THREAD_SERIALIZED"), "another thread's broadcast: " + used.message);
  require(made.is(TESSERA_INVALID_ARGUMENT, "MPI_THREAD_SERIALIZED"), "another thread's group: " + made.message);
}

void test_all() {
  const Group group(MPI_COMM_WORLD);
  const Group in_pieces(MPI_COMM_WORLD, 1000);
  test_collectives(group, {0, 1, 1000, (1 << 20) + 3});
  test_collectives(in_pieces, {0, 1, 250, 251, 1000, 1001, 20000, 20001});
  exchange(group, 10000, 3 << 20);
  exchange(in_pieces, 500, 20000);
  test_own_communicator();
  test_communicators();
  test_failures();
  test_other_thread();
}

/// Rank 1 leaves; the others wait for it until they are ended.
[[noreturn]] void leave() {
  const Group group(MPI_COMM_WORLD);
  int value = 0;
  void* request = nullptr;
  if (group.rank() == 1) {
    std::printf("left at %lld\n", static_cast<long long>(std::time(nullptr)));
    std::fflush(stdout);
    std::_Exit(3);
  }
  require_ok(group.receive(&value, 4, 1, 0, &request), "receive");
  const Result result = group.wait(request);
  require(false, "a message of the rank that left: " + result.message);
  std::abort();
}

int run(int argc, char** argv, const std::string& scenario) {
  if (!refusal(MPI_COMM_WORLD).is(TESSERA_INVALID_ARGUMENT, "MPI is not running")) return 1;
  const int wanted = scenario == "threads" ? MPI_THREAD_SERIALIZED : MPI_THREAD_FUNNELED;
  int level = 0;
  MPI_Init_thread(&argc, &argv, wanted, &level);
  share_seed();
  if (scenario == "leaves") leave();
  if (scenario == "all") test_all();
  if (scenario == "threads" && level >= wanted)
    std::thread([] { exchange(Group(MPI_COMM_WORLD), 500, 100000); }).join();

  auto kept = std::make_unique<Group>(MPI_COMM_WORLD);
  MPI_Finalize();
  int value = 0;
  const Result late = kept->broadcast(&value, 4, 0);
  kept.reset();
  if (!late.is(TESSERA_INVALID_ARGUMENT, "MPI is not running")) return 1;
  return refusal(MPI_COMM_WORLD).is(TESSERA_INVALID_ARGUMENT, "MPI is not running") ? 0 : 1;
}

}  // namespace

}  // namespace tessera::test

int main(int argc, char** argv) { return tessera::test::run(argc, argv, argc > 1 ? argv[1] : "all"); }
