// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "halo_carrier.hpp"

#include <algorithm>
#include <utility>

namespace tessera::distributed {
namespace {

void refuse_gaps(const std::vector<Halos>& halos) {
  for (const Halos& one : halos)
    for (const auto* list : {&one.sent, &one.received})
      for (const Decomposition::Halo& halo : *list)
        if (!one.array.is_contiguous(halo.box))
          throw Error(TESSERA_UNSUPPORTED, "halos are not contiguous: cut the first axis alone");
}

}  // namespace

HaloCarrier::HaloCarrier(std::shared_ptr<Comm> comm, tessera_context* context, bool on_host,
                         tessera_halo_transport wanted, const std::vector<Halos>& halos)
    : comm_(std::move(comm)), copier_(on_host ? share(context) : beside(context)), on_host_(on_host), halos_(halos) {
  join(context, wanted);
}

/// Collective: copies between devices, NCCL, or the group's transport.
void HaloCarrier::join(tessera_context* context, tessera_halo_transport wanted) {
  std::string why_not, why_no_copies;
  if (wanted != TESSERA_HALO_HOST && comm_->size() > 1) {
    why_not = first_failure(*comm_, outcome_of([&] {
      if (on_host_) throw Error(TESSERA_UNSUPPORTED, "the backend computes on the host");
      refuse_gaps(halos_);
    }));
    if (why_not.empty() && wanted != TESSERA_HALO_NCCL)
      copies_ = HaloCopies::join(comm_, context, copier_.get(), why_no_copies);
    if (why_not.empty() && copies_ == nullptr) nccl_ = Nccl::join(*comm_, copier_.get(), why_not);
    if (nccl_ == nullptr && wanted == TESSERA_HALO_NCCL) throw Error(TESSERA_UNSUPPORTED, "halos = nccl: " + why_not);
  }
  if (on_streams()) device_ = Driver::get().device_of(copier_.get()), stream_ = stream_of(copier_.get());
  text_ = copies_ != nullptr ? "by copies between devices" : nccl_ != nullptr ? "by NCCL" : "through the host";
  if (!why_not.empty() && !on_host_)
    text_ += " (" + why_not + (why_no_copies.empty() ? "" : "; " + why_no_copies) + ")";
}

void HaloCarrier::take(const std::vector<Halos>& halos) {
  halos_ = halos;
  exchange_.reset();
  if (nccl_ == nullptr && !empty()) exchange_ = std::make_unique<Exchange>(comm_, halos_);
}

bool HaloCarrier::empty() const {
  return std::all_of(halos_.begin(), halos_.end(), [](const Halos& h) { return h.empty(); });
}

void HaloCarrier::queue(const std::vector<void*>& arrays) {
  if (copies_ != nullptr) return copies_->queue(halos_, arrays);
  const auto parts = [&](std::vector<Decomposition::Halo> Halos::*list) {
    std::vector<Nccl::Part> made;
    for (std::size_t i = 0; i < halos_.size(); ++i)
      for (const Decomposition::Halo& halo : halos_[i].*list) {
        const Array& array = halos_[i].array;
        made.push_back({at(arrays[i], array.offset(halo.box.low) * array.element),
                        std::size_t(halo.box.points() * array.element), halo.peer});
      }
    return made;
  };
  nccl_->exchange(stream_, parts(&Halos::sent), parts(&Halos::received));
}

void HaloCarrier::copy(void* target, const void* source, std::size_t bytes) {
  Driver::get().copy(device_, stream_, {source, target, bytes, bytes, 1, bytes});
}

void HaloCarrier::begin(tessera_context* context, const std::vector<void*>& arrays, Attempts& attempts) {
  if (exchange_ == nullptr) return;
  if (!on_host_) attempts.run([&] { call(tessera_context_synchronize, context); });
  attempts.always([&] { exchange_->begin(copier_.get(), arrays, attempts.failed()); });
}

void HaloCarrier::finish(const std::vector<void*>& arrays, Attempts& attempts) {
  if (exchange_ == nullptr) return;
  attempts.always([&] {
    const int lost = exchange_->finish(copier_.get(), arrays, attempts.failed());
    if (lost >= 0)
      throw Error(TESSERA_DEVICE_ERROR, "rank " + std::to_string(lost) + " has failed; its own error tells why");
  });
}

}  // namespace tessera::distributed
