/** Products of triangular matrices on CPUs and NVIDIA GPUs. Only {@code org.tritri} is for callers. */
module org.tritri {
  exports org.tritri;
}
