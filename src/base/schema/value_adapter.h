// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lets valijson read our values. Its own adapter for RapidJSON copies the value for every question
// and cannot carry data of one validation; this one can.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include <valijson/internal/adapter.hpp>
#include <valijson/internal/basic_adapter.hpp>
#include <valijson/internal/frozen_value.hpp>

#include "base/json/json.h"
#include "base/schema/schema_walk.h"

namespace baton::judge {

// The names of members and types in this file are valijson's.
// NOLINTBEGIN(readability-identifier-naming)

/// A value, and the walk that answers questions about it.
struct ValueRef {
  const Value* value = nullptr;
  SchemaWalk* walk = nullptr;
};

inline const Value& empty_value(rapidjson::Type type) {
  static const Value kArray(rapidjson::kArrayType);
  static const Value kObject(rapidjson::kObjectType);
  return type == rapidjson::kArrayType ? kArray : kObject;
}

class Adapter;

/// Steps through the items of an array (`const Value*`) or the members of an object.
template <class Inner, class Item>
class Iterator {
 public:
  using iterator_category = std::bidirectional_iterator_tag;
  using value_type = Item;
  using difference_type = std::ptrdiff_t;
  using pointer = Item*;
  using reference = Item&;

  Iterator(Inner at, SchemaWalk* walk) : at_(at), walk_(walk) {}
  Item operator*() const;
  valijson::adapters::DerefProxy<Item> operator->() const {
    return valijson::adapters::DerefProxy<Item>(**this);
  }
  bool operator==(const Iterator& other) const { return at_ == other.at_; }
  bool operator!=(const Iterator& other) const { return at_ != other.at_; }
  Iterator& operator++() {
    ++at_;
    return *this;
  }
  Iterator operator++(int) {  // NOLINT(cert-dcl21-cpp): as valijson's own
    const Iterator before = *this;
    ++at_;
    return before;
  }
  Iterator& operator--() {
    --at_;
    return *this;
  }
  void advance(std::ptrdiff_t count) { at_ += count; }

 private:
  Inner at_;
  SchemaWalk* walk_;
};

using Member = std::pair<std::string, Adapter>;
using ItemIterator = Iterator<const Value*, Adapter>;
using MemberIterator = Iterator<Value::ConstMemberIterator, Member>;

class Array {
 public:
  using const_iterator = ItemIterator;
  using iterator = ItemIterator;

  Array() : Array({&empty_value(rapidjson::kArrayType), nullptr}) {}
  explicit Array(ValueRef ref) : ref_(ref) {}
  ItemIterator begin() const { return {ref_.value->Begin(), ref_.walk}; }
  ItemIterator end() const { return {ref_.value->End(), ref_.walk}; }
  std::size_t size() const { return ref_.value->Size(); }

 private:
  ValueRef ref_;
};

class Object {
 public:
  using const_iterator = MemberIterator;
  using iterator = MemberIterator;

  Object() : Object({&empty_value(rapidjson::kObjectType), nullptr}) {}
  explicit Object(ValueRef ref) : ref_(ref) {}
  MemberIterator begin() const { return {ref_.value->MemberBegin(), ref_.walk}; }
  MemberIterator end() const { return {ref_.value->MemberEnd(), ref_.walk}; }
  MemberIterator find(const std::string& name) const {
    auto member = ref_.value->MemberBegin();
    while (member != ref_.value->MemberEnd() && json::name(member->name) != name)
      ++member;
    return {member, ref_.walk};
  }
  std::size_t size() const { return ref_.value->MemberCount(); }

 private:
  ValueRef ref_;
};

class Frozen : public valijson::adapters::FrozenValue {
 public:
  explicit Frozen(Json value) : value_(std::move(value)) {}
  FrozenValue* clone() const override {
    return new Frozen(value_);  // NOLINT(cppcoreguidelines-owning-memory): valijson's contract
  }
  bool equalTo(const valijson::adapters::Adapter& other, bool strict) const override;

 private:
  Json value_;
};

/// The functions that valijson's BasicAdapter needs.
class Questions {
 public:
  Questions() : Questions({&empty_value(rapidjson::kObjectType), nullptr}) {}
  // NOLINTNEXTLINE(google-explicit-constructor): BasicAdapter converts
  Questions(ValueRef ref) : ref_(ref) {}

  valijson::adapters::FrozenValue* freeze() const {
    return new Frozen(Json(*ref_.value));  // NOLINT(cppcoreguidelines-owning-memory): as clone
  }
  std::optional<Array> getArrayOptional() const {
    return isArray() ? std::optional<Array>(Array(ref_)) : std::optional<Array>();
  }
  std::optional<Object> getObjectOptional() const {
    return isObject() ? std::optional<Object>(Object(ref_)) : std::optional<Object>();
  }
  bool getArraySize(std::size_t& out) const {
    if (isArray())
      out = ref_.value->Size();
    return isArray();
  }
  bool getObjectSize(std::size_t& out) const {
    if (isObject())
      out = ref_.value->MemberCount();
    return isObject();
  }
  bool getBool(bool& out) const {
    if (isBool())
      out = ref_.value->GetBool();
    return isBool();
  }
  bool getDouble(double& out) const {
    if (isDouble())
      out = ref_.value->GetDouble();
    return isDouble();
  }
  bool getInteger(std::int64_t& out) const {
    if (isInteger())
      out = ref_.value->GetInt64();
    return isInteger();
  }
  bool getString(std::string& out) const {
    if (isString())
      out.assign(ref_.value->GetString(), ref_.value->GetStringLength());
    return isString();
  }
  static bool hasStrictTypes() { return true; }
  bool isArray() const { return ref_.value->IsArray(); }
  bool isBool() const { return ref_.value->IsBool(); }
  bool isDouble() const { return ref_.value->IsNumber() && !isInteger(); }
  bool isInteger() const { return ref_.value->IsInt64(); }
  bool isNull() const { return ref_.value->IsNull(); }
  bool isNumber() const { return ref_.value->IsNumber(); }
  bool isObject() const { return ref_.value->IsObject(); }
  bool isString() const { return ref_.value->IsString(); }

 private:
  ValueRef ref_;
};

class Adapter : public valijson::adapters::BasicAdapter<Adapter, Array, Member, Object, Questions> {
 public:
  Adapter() : Adapter(ValueRef{&empty_value(rapidjson::kObjectType), nullptr}) {}
  explicit Adapter(ValueRef ref) : BasicAdapter(Questions(ref)), ref_(ref) {}
  const ValueRef& ref() const { return ref_; }

 private:
  ValueRef ref_;
};

template <>
inline Adapter ItemIterator::operator*() const {
  return Adapter({at_, walk_});
}
template <>
inline Member MemberIterator::operator*() const {
  return {std::string(json::name(at_->name)), Adapter({&at_->value, walk_})};
}

inline bool Frozen::equalTo(const valijson::adapters::Adapter& other, bool strict) const {
  return Adapter({&*value_, nullptr}).equalTo(other, strict);
}

// NOLINTEND(readability-identifier-naming)

}  // namespace baton::judge

template <>
struct valijson::adapters::AdapterTraits<baton::judge::Adapter> {
  using DocumentType = baton::Json;
  static std::string adapterName() {  // NOLINT(readability-identifier-naming): valijson's name
    return "baton";
  }
};
