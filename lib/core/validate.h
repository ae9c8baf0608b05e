// Every rule about arguments, each with its sentence. Pure: nothing is read but the structs.
#pragma once
#include "core/canonical.h"
#include "core/operand.h"

namespace tritri {

// `where` is "function: argument" as messages begin. Copies min(struct_size, known) bytes over the defaults.
tritri_context_options read_options(const char *function, const tritri_context_options *options);
tritri_multiply_options read_options(const char *function, const tritri_multiply_options *options);
Layout read_layout(const char *function, const char *argument, const tritri_matrix_desc *desc);

// Copies `known` over the caller's struct, no more than struct_size bytes of it; struct_size itself stays.
template <class Struct>
void write_struct(const char *function, const char *argument, Struct known, Struct *out);

// Shapes, dtypes, batches, alpha, beta, compute of one product.
void check_multiply(const char *function, const tritri_multiply_options &options, const Layout &a, const Layout &b, const Layout &c);

// C against A and B in memory: apart, or the very same matrix.
struct Aliasing { bool c_is_a, c_is_b; };
Aliasing check_overlap(const char *function, const Operands &operands);

// A result's matrices must not overlap each other, and its diagonal must be stored.
void check_result(const char *function, const char *argument, const Layout &c);

// The matrices of a batch that is written must not overlap each other.
void check_apart(const char *function, const char *argument, const Layout &c);

// Two layouts of the same matrix (upload, download): equal but for order, storage, ld, diag and batch stride.
void check_same_matrix(const char *function, const char *argument, const Layout &matrix, const Layout &host);

// NULL is allowed only for a matrix without elements.
void check_data(const char *function, const char *argument, const Layout &layout, const void *data);

}  // namespace tritri
