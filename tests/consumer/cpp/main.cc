// The C++ layer as a stranger uses it: the Cholesky factor [2 .; 1 3] gives back [4 .; 2 10], and an error is an exception with a sentence.
#include <cmath>
#include <iostream>
#include <tritri/tritri.hpp>
#include <vector>

int main() {
  const std::vector<double> l = {2, NAN, 1, 3};
  std::vector<double> k(4, -1);
  tritri::Context context;
  context.multiply_host(tritri::lower<double>(2, 2), l, tritri::lower<double>(2, 2), l, tritri::lower<double>(2, 2), k,
                        tritri::MultiplyOptions().ops(TRITRI_OP_NONE, TRITRI_OP_TRANSPOSE));
  if (k != std::vector<double>{4, -1, 2, 10}) return 1;
  try {
    context.matrix(tritri::lower<double>(-1, 2));
  } catch (const tritri::Error &error) {
    std::cout << error.what() << "\n";
    return error.status() == TRITRI_INVALID_ARGUMENT ? 0 : 1;
  }
  return 1;
}
