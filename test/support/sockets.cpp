// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "sockets.hpp"

#include <tessera/plugin/error.hpp>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>

namespace tessera::test {

std::vector<Descriptors> connect_all(int count) {
  std::vector<Descriptors> ends(std::size_t(count), Descriptors(std::size_t(count), -1));
  for (std::size_t a = 0; a < ends.size(); ++a)
    for (std::size_t b = a + 1; b < ends.size(); ++b) {
      int pair[2];
      if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) throw std::runtime_error("socketpair failed");
      ends[a][b] = pair[0], ends[b][a] = pair[1];
    }
  return ends;
}

namespace {

using plugin::Error;

/// Tags of broadcasts and of what ranks gather, which no message has.
constexpr std::int64_t kBroadcast = -1, kGather = -2;

Sockets& of(void* state) { return *static_cast<Sockets*>(state); }

}  // namespace

Sockets::Sockets(int rank, Descriptors descriptors) : rank_(rank) {
  for (const int descriptor : descriptors) peers_.push_back({descriptor, false, {}, {}, {}});
}

Sockets::~Sockets() {
  for (std::size_t peer = 0; peer < peers_.size(); ++peer)
    if (int(peer) != rank_) ::close(peers_[peer].descriptor);
}

Sockets::Message* Sockets::send(const void* data, std::uint64_t bytes, int peer, std::int64_t tag) {
  Peer& to = peers_.at(std::size_t(peer));
  const char* const source = static_cast<const char*>(data);
  Message* const message = new Message{true, peer, tag, bytes, source, nullptr, 0};
  if (peer == rank_) {
    Channel& channel = to.channels[tag];
    channel.arrived.emplace(channel.came++, std::vector<char>(source, source + bytes));
    message->written = sizeof(Header) + bytes;
  } else {
    to.outgoing.push_back(message);
    write_some(to);
  }
  return message;
}

Sockets::Message* Sockets::receive(void* data, std::uint64_t bytes, int peer, std::int64_t tag) {
  Channel& channel = peers_.at(std::size_t(peer)).channels[tag];
  return new Message{false, peer, tag, bytes, nullptr, static_cast<char*>(data), channel.asked++};
}

bool Sockets::is_done(const Message& message) const {
  if (message.outgoing) return message.written == sizeof(Header) + message.bytes;
  return peers_[std::size_t(message.peer)].channels.at(message.tag).arrived.contains(message.number);
}

void Sockets::wait(Message* handle) {
  const std::unique_ptr<Message> message(handle);
  if (waits_left_ > 0 && --waits_left_ == 0) std::raise(SIGKILL);
  Peer& peer = peers_[std::size_t(message->peer)];
  while (!is_done(*message)) {
    if (peer.left) {
      std::erase(peer.outgoing, message.get());
      throw Error(TESSERA_DEVICE_ERROR, "rank " + std::to_string(message->peer) + " has left the group of rank " +
                                            std::to_string(rank_) + ", which waits for it");
    }
    move_bytes();
  }
  if (message->outgoing) return;
  const auto arrived = peer.channels.at(message->tag).arrived.extract(message->number);
  if (arrived.mapped().size() != message->bytes) throw Error(TESSERA_INTERNAL, "a message has another size");
  if (message->bytes > 0) std::memcpy(message->target, arrived.mapped().data(), message->bytes);
}

/// Waits until a socket takes or gives bytes, or is closed.
void Sockets::move_bytes() {
  std::vector<pollfd> polled;
  for (const Peer& peer : peers_) {
    const bool open = &peer != &peers_[std::size_t(rank_)] && !peer.left;
    polled.push_back({open ? peer.descriptor : -1, short(POLLIN | (peer.outgoing.empty() ? 0 : POLLOUT)), 0});
  }
  if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR)
    throw Error(TESSERA_DEVICE_ERROR, std::string("poll: ") + std::strerror(errno));
  for (std::size_t i = 0; i < polled.size(); ++i) {
    if ((polled[i].revents & POLLOUT) != 0) write_some(peers_[i]);
    if ((polled[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) read_some(peers_[i]);
  }
}

void Sockets::write_some(Peer& peer) {
  while (!peer.outgoing.empty()) {
    Message& message = *peer.outgoing.front();
    const Header header{message.tag, message.bytes};
    const bool in_header = message.written < sizeof header;
    const char* const from = in_header ? reinterpret_cast<const char*>(&header) + message.written
                                       : message.source + (message.written - sizeof header);
    const std::size_t left =
        in_header ? sizeof header - message.written : message.bytes + sizeof header - message.written;
    if (left > 0) {
      const ssize_t written = ::send(peer.descriptor, from, left, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (written < 0) return;  // reading tells where the other has left
      message.written += std::size_t(written);
    }
    if (is_done(message)) peer.outgoing.pop_front();
  }
}

void Sockets::read_some(Peer& peer) {
  char bytes[65536];
  const ssize_t count = ::recv(peer.descriptor, bytes, sizeof bytes, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    peer.left = true;
    return;
  }
  peer.incoming.insert(peer.incoming.end(), bytes, bytes + count);
  deliver(peer);
}

/// Moves whole messages to their channels.
void Sockets::deliver(Peer& peer) {
  Header header{};
  std::size_t at = 0;
  for (;; at += sizeof header + header.bytes) {
    if (peer.incoming.size() - at < sizeof header) break;
    std::memcpy(&header, peer.incoming.data() + at, sizeof header);
    if (peer.incoming.size() - at - sizeof header < header.bytes) break;
    const auto begin = peer.incoming.begin() + std::ptrdiff_t(at + sizeof header);
    Channel& channel = peer.channels[header.tag];
    channel.arrived.emplace(channel.came++, std::vector<char>(begin, begin + std::ptrdiff_t(header.bytes)));
  }
  peer.incoming.erase(peer.incoming.begin(), peer.incoming.begin() + std::ptrdiff_t(at));
}

void Sockets::broadcast(void* data, std::uint64_t bytes, int root) {
  if (rank_ != root) return wait(receive(data, bytes, root, kBroadcast));
  std::vector<Message*> sent;
  for (std::size_t peer = 0; peer < peers_.size(); ++peer)
    if (int(peer) != root) sent.push_back(send(data, bytes, int(peer), kBroadcast));
  for (Message* const message : sent) wait(message);
}

void Sockets::all_gather(const void* mine, void* all, std::uint64_t bytes) {
  char* const parts = static_cast<char*>(all);
  if (rank_ != 0) {
    wait(send(mine, bytes, 0, kGather));
  } else {
    if (bytes > 0) std::memmove(parts, mine, bytes);
    for (std::size_t peer = 1; peer < peers_.size(); ++peer)
      wait(receive(parts + peer * bytes, bytes, int(peer), kGather));
  }
  broadcast(all, bytes * peers_.size(), 0);
}

void Sockets::all_reduce(std::int64_t* values, std::uint64_t count) {
  std::vector<std::int64_t> all(peers_.size() * count);
  all_gather(values, all.data(), count * sizeof *values);
  for (std::size_t i = 0; i < all.size(); ++i) values[i % count] = std::max(values[i % count], all[i]);
}

tessera_transport Sockets::transport(bool reduces) {
  tessera_transport t{};
  t.struct_size = sizeof t;
  t.state = this;
  t.rank = rank_, t.size = std::int32_t(peers_.size());
  t.broadcast = [](void* state, void* data, std::uint64_t bytes, std::int32_t root, tessera_error* error) {
    return plugin::guard(error, [&] { of(state).count(bytes), of(state).broadcast(data, bytes, root); });
  };
  t.all_gather = [](void* state, const void* mine, void* all, std::uint64_t bytes, tessera_error* error) {
    return plugin::guard(error, [&] { of(state).count(bytes), of(state).all_gather(mine, all, bytes); });
  };
  t.send = [](void* state, const void* data, std::uint64_t bytes, std::int32_t peer, std::int32_t tag, void** request,
              tessera_error* error) {
    return plugin::guard(error, [&] { *request = of(state).send(data, bytes, peer, tag); });
  };
  t.receive = [](void* state, void* data, std::uint64_t bytes, std::int32_t peer, std::int32_t tag, void** request,
                 tessera_error* error) {
    return plugin::guard(error, [&] { *request = of(state).receive(data, bytes, peer, tag); });
  };
  t.wait = [](void* state, void* request, tessera_error* error) {
    return plugin::guard(error, [&] { of(state).wait(static_cast<Message*>(request)); });
  };
  t.destroy = [](void* state) { delete &of(state); };
  if (reduces)
    t.all_reduce = [](void* state, std::int64_t* values, std::uint64_t count, tessera_error* error) {
      return plugin::guard(error,
                           [&] { of(state).count(count * sizeof *values), of(state).all_reduce(values, count); });
    };
  return t;
}

}  // namespace tessera::test
