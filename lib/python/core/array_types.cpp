// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "array_types.hpp"

#include <cstddef>
#include <iterator>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

namespace tessera::python {
namespace {

const dlpack::Exchange* exchange_of(nb::handle type) {
  const dlpack::Exchange* api = nullptr;
  const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  if (PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api"))
    api = static_cast<const dlpack::Exchange*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  while (api != nullptr && api->version.major != 1) api = api->previous;
  if (api != nullptr && api->tensor_of_object == nullptr) api = nullptr;
  return api;
}

/// Types that were asked. Of each a weak reference: a program may make types and drop them, and then another one may
/// live at the same place. Nothing here runs code of Python.
class KnownTypes {
 public:
  std::optional<ArrayType> find(PyTypeObject* type) {
    const std::lock_guard lock(mutex_);
    const auto known = known_.find(type);
    if (known == known_.end() || !is_alive(known->second)) return std::nullopt;
    return known->second.type;
  }
  /// `reference`: a weak one to the type, which is taken.
  void add(PyTypeObject* type, nb::object reference, const ArrayType& answer) {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(type); known != known_.end()) drop(known);
    if (known_.size() >= most_) drop_dead();
    known_.emplace(type, Known{reference.ptr(), answer});
    reference.release();
  }

 private:
  struct Known {
    PyObject* reference;  ///< weak
    ArrayType type;
  };
  using Map = std::unordered_map<PyTypeObject*, Known>;

  static bool is_alive(const Known& known) {
    const nb::object type = nb::steal(PyObject_CallNoArgs(known.reference));
    return type.is_valid() && !type.is_none();
  }
  Map::iterator drop(Map::iterator entry) {
    Py_DECREF(entry->second.reference);
    return known_.erase(entry);
  }
  void drop_dead() {
    for (auto entry = known_.begin(); entry != known_.end();)
      entry = is_alive(entry->second) ? std::next(entry) : drop(entry);
    most_ = 64 + 2 * known_.size();
  }

  std::mutex mutex_;
  Map known_;
  std::size_t most_ = 64;  ///< then dead ones are looked for
};

bool answers_yes(nb::handle tensor, const char* question) {
  const nb::object method = nb::getattr(tensor, question, nb::none());
  return PyCallable_Check(method.ptr()) != 0 && nb::object(method()).ptr() == Py_True;
}

}  // namespace

ArrayType type_of(nb::handle object) {
  static auto* const types = new KnownTypes;  // lives on: Python is gone when static objects go
  PyTypeObject* const type = Py_TYPE(object.ptr());
  if (const std::optional<ArrayType> known = types->find(type)) return *known;
  const nb::handle asked = reinterpret_cast<PyObject*>(type);
  const ArrayType answer{exchange_of(asked), nb::hasattr(asked, "is_neg")};
  nb::object reference = nb::steal(PyWeakref_NewRef(asked.ptr(), nullptr));
  if (!reference.is_valid()) throw nb::python_error();
  types->add(type, std::move(reference), answer);
  return answer;
}

bool is_lazy(nb::handle tensor) { return answers_yes(tensor, "is_neg") || answers_yes(tensor, "is_conj"); }

nb::object resolved(nb::handle tensor) {
  nb::object result = nb::borrow(tensor);
  if (answers_yes(result, "is_conj")) result = result.attr("resolve_conj")();
  if (answers_yes(result, "is_neg")) result = result.attr("resolve_neg")();
  return result;
}

}  // namespace tessera::python
