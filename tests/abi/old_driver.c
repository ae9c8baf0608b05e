/* libcuda.so.1 of a driver that is older than every CUDA runtime this library is built with. */
int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);

int cuInit(unsigned flags) {
  (void)flags;
  return 0;
}

int cuDriverGetVersion(int *version) {
  *version = 9000;
  return 0;
}
