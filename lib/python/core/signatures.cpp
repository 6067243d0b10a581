// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "signatures.hpp"

#include "arguments.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace tessera::python {
namespace {

/// The parts between separators that stand in no brackets.
std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += int(text[i] == '[' || text[i] == '(') - int(text[i] == ']' || text[i] == ')');
    if (depth != 0 || !text.substr(i).starts_with(separator)) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + separator.size();
    i = begin - 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

/// "Taps" of "tessera._core.Taps".
std::string_view last_name(std::string_view type) {
  const std::size_t dot = type.rfind('.');
  return dot == std::string_view::npos ? type : type.substr(dot + 1);
}

/// What a type of a signature is called in a sentence.
std::string words_for(std::string_view type) {
  if (type == "int") return "an integer";
  if (type == "float") return "a real number";
  if (type == "bool") return "True or False";
  if (type == "str") return "text, of the type str";
  if (type.starts_with("dict")) return "a dict";
  if (type == "collections.abc.Sequence[int]") return "a sequence of integers";
  const std::string name(last_name(type));
  return (std::string_view("AEIOU").find(name[0]) != std::string_view::npos ? "an " : "a ") + name;
}

/// Whether the object's type, or one that it is derived from, is called so.
bool is_of_type(nb::handle object, std::string_view name) {
  for (PyTypeObject* type = Py_TYPE(object.ptr()); type != nullptr; type = type->tp_base)
    if (last_name(type->tp_name) == name) return true;
  return false;
}

enum class Fit { yes, wrong_type, wrong_value };

Fit fit_of_integer(nb::handle object) {
  if (!is_integer(object)) return Fit::wrong_type;
  return as_integer(object) ? Fit::yes : Fit::wrong_value;
}

Fit fit_of(nb::handle object, std::string_view type) {
  const auto is = [](bool answer) { return answer ? Fit::yes : Fit::wrong_type; };
  if (type == "None") return is(object.is_none());
  if (type == "int") return fit_of_integer(object);
  if (type == "float")
    return as_number(object) ? Fit::yes : PyLong_Check(object.ptr()) != 0 ? Fit::wrong_value : Fit::wrong_type;
  if (type == "bool") return is(PyBool_Check(object.ptr()) != 0);
  if (type == "str")
    return PyUnicode_Check(object.ptr()) == 0 ? Fit::wrong_type : as_text(object) ? Fit::yes : Fit::wrong_value;
  if (type.starts_with("dict")) return is(PyDict_Check(object.ptr()) != 0);
  if (type.find("typing.Any") != std::string_view::npos || type.find("Iterable") != std::string_view::npos)
    return is(!object.is_none());
  if (type == "collections.abc.Sequence[int]") {
    if (PySequence_Check(object.ptr()) == 0 || PyUnicode_Check(object.ptr()) != 0 || PyBytes_Check(object.ptr()) != 0)
      return Fit::wrong_type;
    const bool sized = PySequence_Size(object.ptr()) >= 0;
    const nb::object list = nb::steal(sized ? PySequence_List(object.ptr()) : nullptr);
    if (!list.is_valid()) return PyErr_Clear(), Fit::wrong_type;
    Fit worst = Fit::yes;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.ptr()) && worst == Fit::yes; ++i)
      worst = fit_of_integer(PyList_GET_ITEM(list.ptr(), i));
    return worst;
  }
  return is(is_of_type(object, last_name(type)));
}

/// "GemmPlan" of "GemmPlan.__init__".
std::string called(nb::handle function) {
  std::string name = as_text(nb::getattr(function, "__qualname__", nb::str("?"))).value_or("?");
  constexpr std::string_view kInit = ".__init__";
  if (name.ends_with(kInit)) name.resize(name.size() - kInit.size());
  return name;
}

void set(PyObject* type, const std::string& text) { PyErr_SetString(type, text.c_str()); }

std::string refusal(const std::string& name, nb::handle value, const std::string& must) {
  return name + " = " + shown(value) + ": must be " + must;
}

/// For a value that is none of the types. False where it is one of them.
bool set_if_unfit(const std::string& name, nb::handle value, const std::string& types) {
  std::string all;
  bool of_range = false, integer = false;
  for (const std::string_view type : split(types, " | ")) {
    const Fit fit = fit_of(value, type);
    if (fit == Fit::yes) return false;
    of_range |= fit == Fit::wrong_value;
    integer |= type.find("int") != std::string_view::npos;
    all += (all.empty() ? "" : " or ") + (type == "None" ? std::string("None") : words_for(type));
  }
  if (of_range)
    all = PyUnicode_Check(value.ptr()) != 0 ? "text without surrogates and NUL"
          : integer                         ? "in [-2^63, 2^63)"
                                            : "within the range of float64";
  if (of_range)
    set(PyExc_ValueError, refusal(name, value, all));
  else
    set(PyExc_TypeError, name + " = " + shown(value) + ", " + kind_of(value) + ": must be " + all);
  return true;
}

/// Several functions of one name take what any of them takes.
std::vector<Parameter> parameters(nb::handle function) {
  std::vector<Parameter> all;
  for (const nb::handle overload : nb::borrow<nb::tuple>(function.attr("__nb_signature__"))) {
    const std::string signature = as_text(nb::object(overload[0])).value_or("");
    const std::vector<Parameter> own = parameters_of(signature);
    for (std::size_t i = 0; i < own.size(); ++i)
      if (i == all.size())
        all.push_back(own[i]);
      else if (all[i].type != own[i].type)
        all[i].type += " | " + own[i].type;
  }
  return all;
}

/// A call, with what it has for each parameter.
class Call {
 public:
  Call(nb::handle function, const Given& given)
      : name_(called(function)),
        parameters_(parameters(function)),
        values_(parameters_.size(), nullptr),
        given_(given) {}

  void set_misfit() {
    if (unassignable() || missing()) return;
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      if (values_[i] != nullptr && set_if_unfit(parameter_name(i), values_[i], type(i))) return;
    for (std::size_t i = 0; i < parameters_.size(); ++i)  // what fits 64 bits, but not an int
      if (values_[i] != nullptr && type(i).starts_with("int") && !is_small(values_[i]))
        return set(PyExc_ValueError,
                   refusal(parameters_[i].name, values_[i], "an integer in [-2147483648, 2147483647]"));
    std::string all;
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      if (values_[i] != nullptr && !is_self(i))
        all += (all.empty() ? "" : ", ") + parameters_[i].name + " = " + shown(values_[i]);
    set(PyExc_TypeError, name_ + ": " + all + ": must be of the types that help() tells");
  }

 private:
  /// The first parameter of a method has no type.
  bool is_self(std::size_t i) const { return parameters_[i].type.empty(); }
  std::string type(std::size_t i) const { return is_self(i) ? name_.substr(0, name_.find('.')) : parameters_[i].type; }
  std::string parameter_name(std::size_t i) const {
    return is_self(i) ? name_ + ": " + parameters_[i].name : parameters_[i].name;
  }

  static bool is_small(nb::handle value) {
    const auto number = as_integer(value);
    return !number || (*number >= INT32_MIN && *number <= INT32_MAX);
  }

  std::string names_of(bool Parameter::*where) const {
    std::string all;
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      if (parameters_[i].*where && !is_self(i)) all += (all.empty() ? "" : ", ") + parameters_[i].name;
    return all.empty() ? "none" : all;
  }

  /// Finds the parameter of each argument. True, with an exception, where there is none.
  bool unassignable() {
    const auto places = std::size_t(std::ranges::count_if(parameters_, [](const Parameter& p) { return p.by_place; }));
    const std::size_t self = !parameters_.empty() && is_self(0) ? 1 : 0;
    if (given_.by_place > places) {
      set(PyExc_TypeError, name_ + ": " + std::to_string(given_.by_place - self) +
                               " arguments without a name; must be " + std::to_string(places - self) +
                               " at most: " + names_of(&Parameter::by_place));
      return true;
    }
    std::copy_n(given_.values.begin(), given_.by_place, values_.begin());
    const std::size_t named = given_.names == nullptr ? 0 : std::size_t(PyTuple_GET_SIZE(given_.names));
    for (std::size_t i = 0; i < named; ++i) {
      const nb::handle key = PyTuple_GET_ITEM(given_.names, Py_ssize_t(i));
      const std::string text = as_text(key).value_or("");
      const auto at =
          std::ranges::find_if(parameters_, [&](const Parameter& p) { return p.by_name && p.name == text; });
      if (at == parameters_.end()) {
        set(PyExc_TypeError,
            name_ + ": there is no argument " + shown(key) + "; must be one of " + names_of(&Parameter::by_name));
        return true;
      }
      PyObject*& value = values_[std::size_t(at - parameters_.begin())];
      if (value != nullptr) {
        set(PyExc_TypeError, name_ + ": " + text + " is given twice; must be once");
        return true;
      }
      value = given_.values[given_.by_place + i];
    }
    return false;
  }

  bool missing() const {
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      if (values_[i] == nullptr && !parameters_[i].optional) {
        set(PyExc_TypeError, name_ + ": " + parameters_[i].name + " is missing; must be given");
        return true;
      }
    return false;
  }

  std::string name_;
  std::vector<Parameter> parameters_;
  std::vector<PyObject*> values_;
  Given given_;
};

}  // namespace

std::vector<Parameter> parameters_of(std::string_view signature) {
  std::vector<Parameter> result;
  const std::size_t begin = signature.find('('), end = signature.rfind(") -> ");
  if (begin == std::string_view::npos || end == std::string_view::npos || end <= begin + 1) return result;
  bool by_place = true;
  for (const std::string_view part : split(signature.substr(begin + 1, end - begin - 1), ", ")) {
    if (part == "/")
      for (Parameter& p : result) p.by_name = false;
    if (part.starts_with('*')) by_place = false;
    if (part == "/" || part.starts_with('*')) continue;
    const std::size_t value = part.find(" = "), colon = part.find(": ");
    Parameter p{
        std::string(part.substr(0, std::min(colon, value))), {}, by_place, true, value != std::string_view::npos};
    if (colon != std::string_view::npos)
      p.type = part.substr(colon + 2, value == std::string_view::npos ? value : value - colon - 2);
    result.push_back(std::move(p));
  }
  return result;
}

void set_misfit(nb::handle function, const Given& given) { Call(function, given).set_misfit(); }

}  // namespace tessera::python
