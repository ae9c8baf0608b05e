#include "conformance/device.h"

namespace conformance {

using namespace support;

tritri_context *Device::context(int32_t threads) {
  const auto found = contexts_.find(threads);
  if (found != contexts_.end()) return found->second;
  return contexts_.emplace(threads, make_context(kind_, threads)).first->second;
}

DeviceBuffer::DeviceBuffer(tritri_context *context, Buffer &buffer) : context_(context), buffer_(buffer) {
  flat_ = upload(context, describe(buffer.dtype(), TRITRI_FILL_FULL, 1, buffer.elements()), buffer.at(0));
}

Matrix DeviceBuffer::wrap(const Operand &operand) const {
  void *memory = nullptr;
  call(tritri_matrix_data(flat_, &memory));
  return support::wrap(context_, operand.layout.desc(), static_cast<char *>(memory) + operand.origin * bytes_of(buffer_.dtype()));
}

void DeviceBuffer::fetch() const { call(tritri_download(context_, flat_, nullptr, buffer_.at(0))); }

tritri_multiply_options Device::options_of(const Product &product) const {
  tritri_multiply_options options = product.options;
  options.algorithm = algorithm_;
  return options;
}

void Device::multiply(const Product &p, Route route, int32_t threads) {
  tritri_context *on = context(threads);
  const tritri_multiply_options options = options_of(p);
  if (route == Route::host) {
    call(tritri_multiply_host(on, &options, &p.a.layout.desc(), p.a.data(), &p.b.layout.desc(), p.b.data(), &p.c.layout.desc(), p.c.data()));
    return;
  }
  if (route == Route::upload) {
    const tritri_matrix_desc &given = p.c.layout.desc();
    const Matrix a = upload(on, p.a.layout.desc(), p.a.data()), b = upload(on, p.b.layout.desc(), p.b.data());
    tritri_matrix_desc desc = describe(given.dtype, given.fill, given.rows, given.cols, given.order == TRITRI_ORDER_ROW ? TRITRI_ORDER_COLUMN : TRITRI_ORDER_ROW);
    desc.batch_count = given.batch_count;
    desc.batch_stride = given.rows * given.cols;
    const Matrix c = create(on, desc);
    if (options.beta_re != 0 || options.beta_im != 0) call(tritri_upload_into(on, c, &given, p.c.data()));
    call(tritri_multiply(on, &options, a, b, c));
    call(tritri_download(on, c, &given, p.c.data()));
    return;
  }
  std::map<Buffer *, std::unique_ptr<DeviceBuffer>> copies;
  for (const Operand *operand : {&p.a, &p.b, &p.c}) {
    auto &copy = copies[operand->buffer.get()];
    if (!copy) copy = std::make_unique<DeviceBuffer>(on, *operand->buffer);
  }
  {
    const Matrix a = copies[p.a.buffer.get()]->wrap(p.a), b = copies[p.b.buffer.get()]->wrap(p.b), c = copies[p.c.buffer.get()]->wrap(p.c);
    call(tritri_multiply(on, &options, a, b, c));
  }
  for (const auto &copy : copies) copy.second->fetch();
}

}  // namespace conformance
