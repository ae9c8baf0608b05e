// Where the elements of a described matrix lie, and buffers that are poisoned wherever nothing was put.
#pragma once
#include <cstring>
#include <memory>
#include <vector>

#include "support/element.h"

namespace support {

// The header's words as code: lines are counted one by one and element by element.
class Layout {
 public:
  Layout() : Layout(tritri_matrix_desc(TRITRI_MATRIX_DESC_INIT)) {}
  explicit Layout(const tritri_matrix_desc &desc);

  const tritri_matrix_desc &desc() const { return desc_; }
  int64_t batches() const { return desc_.batch_count > 1 ? desc_.batch_count : 1; }
  bool exists(int64_t i, int64_t j) const;
  bool stored(int64_t i, int64_t j) const { return exists(i, j) && !(desc_.diag == TRITRI_DIAG_UNIT && i == j); }
  // Elements from the first element of matrix 0.
  int64_t offset(int64_t batch, int64_t i, int64_t j) const;
  // All offsets lie in [lowest, highest]; empty when lowest > highest. Lines count whole, so that padding is inside too.
  int64_t lowest() const { return lowest_; }
  int64_t highest() const { return highest_; }

 private:
  tritri_matrix_desc desc_;
  int64_t ld_ = 0, lowest_ = 0, highest_ = -1;
  std::vector<int64_t> starts_, firsts_;  // packed: where a line begins and which position it begins with
};

// Elements of one dtype, all NaN until set.
class Buffer {
 public:
  Buffer(int32_t dtype, int64_t elements);
  int32_t dtype() const { return dtype_; }
  int64_t elements() const { return elements_; }
  unsigned char *at(int64_t index) { return bytes_.data() + index * width_; }
  const unsigned char *at(int64_t index) const { return bytes_.data() + index * width_; }
  Wide value(int64_t index) const { return decode(dtype_, at(index)); }
  void set(int64_t index, Wide value) { encode(dtype_, value, at(index)); }
  void poison(int64_t index) { support::poison(dtype_, at(index)); }
  bool same_bytes(const Buffer &other, int64_t index) const { return std::memcmp(at(index), other.at(index), static_cast<size_t>(width_)) == 0; }
  bool operator==(const Buffer &other) const { return bytes_ == other.bytes_; }

 private:
  int32_t dtype_;
  int64_t elements_, width_;
  std::vector<unsigned char> bytes_;
};

// A matrix in a buffer, between guard zones that nobody may read or write.
struct Operand {
  Layout layout;
  std::shared_ptr<Buffer> buffer;
  int64_t origin = 0;  // index in the buffer of element (0, 0) of matrix 0, where it lies or would lie

  Operand() = default;
  // `shift` moves the matrix by so many elements, off every alignment but the element's own.
  explicit Operand(const tritri_matrix_desc &desc, int64_t shift = 0);
  // Another matrix over the same memory.
  Operand(const tritri_matrix_desc &desc, const Operand &over) : layout(desc), buffer(over.buffer), origin(over.origin) {}

  int64_t index(int64_t batch, int64_t i, int64_t j) const { return origin + layout.offset(batch, i, j); }
  void *data() const { return buffer->at(origin); }
  Wide value(int64_t batch, int64_t i, int64_t j) const { return buffer->value(index(batch, i, j)); }
  void set(int64_t batch, int64_t i, int64_t j, Wide value) const { buffer->set(index(batch, i, j), value); }

  // Calls make(batch, i, j) for every element that the library may read as an input, and stores what it gives.
  template <class Make> void fill(Make &&make) const {
    each(true, [&](int64_t batch, int64_t i, int64_t j) { set(batch, i, j, make(batch, i, j)); });
  }
  template <class Use> void each(bool stored_only, Use &&use) const {
    for (int64_t batch = 0; batch < layout.batches(); ++batch)
      for (int64_t i = 0; i < layout.desc().rows; ++i)
        for (int64_t j = 0; j < layout.desc().cols; ++j)
          if (stored_only ? layout.stored(i, j) : layout.exists(i, j)) use(batch, i, j);
  }
};

// A strided descriptor with tight lines.
tritri_matrix_desc describe(int32_t dtype, int32_t fill, int64_t rows, int64_t cols, int32_t order = TRITRI_ORDER_ROW);

}  // namespace support
