// Hopper's own instructions, one thin wrapper each: mbarrier, bulk tensor copies (TMA), wgmma, clusters. sm_90a only. Names and operand
// orders follow the PTX ISA, sections "mbarrier", "Data Movement: Tensor copy" and "Asynchronous Warpgroup Level Matrix Instructions".
#pragma once
#include <cuda.h>

#include <cstdint>

namespace tritri::cuda::hopper {

// A position in a ring of N buffers. The phase is the parity of the ring's turns, as mbarrier waits ask for it.
template <int N>
struct Ring {
  int slot = 0;
  uint32_t phase = 0;
  __device__ void next() {
    if (++slot == N) {
      slot = 0;
      phase ^= 1;
    }
  }
};

__device__ __forceinline__ uint32_t shared_address(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// --- barriers
__device__ __forceinline__ void barrier_init(uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void barrier_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void barrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// By this thread if `arrives`; without a branch, which would serialise the wgmmas around it (C7520).
__device__ __forceinline__ void barrier_arrive_if(bool arrives, uint32_t barrier) {
  asm volatile(
      "{\n.reg .pred arrives;\n"
      "setp.ne.u32 arrives, %1, 0;\n"
      "@arrives mbarrier.arrive.shared::cta.b64 _, [%0];\n}" ::"r"(barrier), "r"(static_cast<uint32_t>(arrives)) : "memory");
}
// On the barrier at the same place in another block of the cluster. The form without .release.cluster: that one costs a full memory
// barrier, and what is handed over here is only leave to overwrite.
__device__ __forceinline__ void barrier_arrive_in(uint32_t barrier, int block) {
  asm volatile(
      "{\n.reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier), "r"(block) : "memory");
}
__device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t phase) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}" ::"r"(barrier), "r"(phase) : "memory");
}
// Once `values` are there: the assembler moves work that a wait does not depend on to behind it. They go into the time for which the
// hardware may suspend the thread at a try, which does not matter.
template <int N>
__device__ __forceinline__ void barrier_wait_after(const uint32_t (&values)[N][4], uint32_t barrier, uint32_t phase) {
  uint32_t all = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) all ^= values[i][0] ^ values[i][1] ^ values[i][2] ^ values[i][3];
  asm volatile(
      "{\n.reg .pred done;\n"
      "again:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1, %2;\n"
      "@!done bra again;\n}" ::"r"(barrier), "r"(phase), "r"(all) : "memory");
}
// For what other blocks of the cluster have sent.
__device__ __forceinline__ void barrier_wait_for_cluster(uint32_t barrier, uint32_t phase) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}" ::"r"(barrier), "r"(phase) : "memory");
}
// Among `threads` threads of the block; 0 is __syncthreads.
__device__ __forceinline__ void named_barrier(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
// The same, and whether `holds` is true of all of them.
__device__ __forceinline__ bool named_barrier_all(int id, int threads, bool holds) {
  uint32_t all;
  asm volatile(
      "{\n.reg .pred holds, all;\n"
      "setp.ne.u32 holds, %3, 0;\n"
      "bar.red.and.pred all, %1, %2, holds;\n"
      "selp.u32 %0, 1, 0, all;\n}" : "=r"(all) : "r"(id), "r"(threads), "r"(static_cast<uint32_t>(holds)) : "memory");
  return all != 0;
}


__device__ __forceinline__ void publish_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
// Its two halves, for whole warps. The first orders nothing but the barriers that are published: the form above waits until stores to global memory have arrived, too.
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
__device__ __forceinline__ int cluster_rank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return static_cast<int>(rank);
}
// Before the tensor cores or the copy engine read what this thread stored.
__device__ __forceinline__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// --- shared memory and flags
__device__ __forceinline__ float4 load4(uint32_t address) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(address) : "memory");
  return v;
}
// Zeros where not.
__device__ __forceinline__ float4 load4_if(bool loads, uint32_t address) {
  float4 v = make_float4(0, 0, 0, 0);
  asm volatile("{\n.reg .pred loads;\nsetp.ne.u32 loads, %5, 0;\n@loads ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];\n}"
               : "+f"(v.x), "+f"(v.y), "+f"(v.z), "+f"(v.w) : "r"(address), "r"(static_cast<uint32_t>(loads)) : "memory");
  return v;
}
__device__ __forceinline__ void store4(uint32_t address, float4 v) {
  asm volatile("st.shared.v4.f32 [%0], {%1,%2,%3,%4};" ::"r"(address), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
}
// The same place in another block of the cluster.
__device__ __forceinline__ uint32_t address_in(uint32_t address, int block) {
  uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}
// Into another block's shared memory, whose barrier is told of the bytes.
__device__ __forceinline__ void send4(uint32_t address, uint32_t barrier, float x, float y, float z, float w) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1,%2,%3,%4}, [%5];" ::"r"(address), "f"(x), "f"(y), "f"(z), "f"(w), "r"(barrier) : "memory");
}
__device__ __forceinline__ uint32_t load1(uint32_t address) {
  uint32_t v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
  return v;
}
__device__ __forceinline__ void store1(uint32_t address, uint32_t v) { asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(v) : "memory"); }
__device__ __forceinline__ void store2(uint32_t address, float x, float y) { asm volatile("st.shared.v2.f32 [%0], {%1,%2};" ::"r"(address), "f"(x), "f"(y) : "memory"); }
__device__ __forceinline__ void load2(uint32_t address, float &x, float &y) {
  asm volatile("ld.shared.v2.f32 {%0,%1}, [%2];" : "=f"(x), "=f"(y) : "r"(address) : "memory");
}
// Four 8-row by 16-byte matrices; lane l names row l % 8 of matrix l / 8 and gets word l % 4 of row l / 4 of each.
__device__ __forceinline__ void load_matrices(uint32_t address, float (&f)[4]) {
  uint32_t r[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
#pragma unroll
  for (int i = 0; i < 4; ++i) f[i] = __uint_as_float(r[i]);
}
__device__ __forceinline__ void store_matrices(uint32_t address, uint32_t x, uint32_t y, uint32_t z, uint32_t w) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(address), "r"(x), "r"(y), "r"(z), "r"(w) : "memory");
}
// Whole vectors of 16 bytes.
__device__ __forceinline__ void prefetch_bytes(const void *address, uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(address), "r"(bytes) : "memory");
}
__device__ __forceinline__ void prefetch_l2(const void *address) { asm volatile("prefetch.global.L2 [%0];" ::"l"(address)); }
__device__ __forceinline__ void flag_set(uint64_t *flag, uint64_t value) {
  asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(flag), "l"(value) : "memory");
}
__device__ __forceinline__ uint64_t flag_get(const uint64_t *flag) {
  uint64_t value;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(flag) : "memory");
  return value;
}

// Sixteen bytes out of thirty-two, from byte `bytes` on; an even number below 16.
__device__ __forceinline__ float4 shifted(float4 low, float4 high, unsigned bytes) {
  uint32_t w[8] = {__float_as_uint(low.x),  __float_as_uint(low.y),  __float_as_uint(low.z),  __float_as_uint(low.w),
                   __float_as_uint(high.x), __float_as_uint(high.y), __float_as_uint(high.z), __float_as_uint(high.w)};
  if (bytes & 8) {
#pragma unroll
    for (int x = 0; x < 6; ++x) w[x] = w[x + 2];
  }
  if (bytes & 4) {
#pragma unroll
    for (int x = 0; x < 5; ++x) w[x] = w[x + 1];
  }
  const unsigned bits = 8 * (bytes & 2);
  return make_float4(__uint_as_float(__funnelshift_r(w[0], w[1], bits)), __uint_as_float(__funnelshift_r(w[1], w[2], bits)), __uint_as_float(__funnelshift_r(w[2], w[3], bits)),
                     __uint_as_float(__funnelshift_r(w[3], w[4], bits)));
}

// --- programmatic dependent launch: a kernel may start before the one that it depends on has ended. The copies that use it are compiled for
// older cards as well, which never launch them.
__device__ __forceinline__ void launch_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
// Until the kernel before has ended and its stores can be seen; at once, if this one was launched the ordinary way.
__device__ __forceinline__ void wait_for_primary() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// --- bulk tensor copies: a box at (x, y, z) of the map; what lies outside the tensor arrives as zeros and is never stored
__device__ __forceinline__ void copy_in(uint32_t to, const CUtensorMap *map, uint32_t barrier, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3,%4,%5}], [%2];" ::"r"(to),
               "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z) : "memory");
}
// To the same place in every block of the cluster that `blocks` names, each one's own barrier told.
__device__ __forceinline__ void copy_in_all(uint32_t to, const CUtensorMap *map, uint32_t barrier, int x, int y, int z, uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3,%4,%5}], [%2], %6;" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"(blocks) : "memory");
}
// To the L2 cache alone: harmless at any time.
__device__ __forceinline__ void prefetch_box(const CUtensorMap *map, int x, int y, int z) {
  asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global [%0, {%1,%2,%3}];" ::"l"(map), "r"(x), "r"(y), "r"(z) : "memory");
}
// So that the first copy finds it on the chip.
__device__ __forceinline__ void prefetch_map(const CUtensorMap *map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory"); }
__device__ __forceinline__ void copy_out(const CUtensorMap *map, uint32_t from, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2,%3,%4}], [%1];" ::"l"(map), "r"(from), "r"(x), "r"(y), "r"(z)
               : "memory");
}
__device__ __forceinline__ void copy_out_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ __forceinline__ void copy_out_wait() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

// --- wgmma
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Pending>
__device__ __forceinline__ void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory"); }
// Keeps the compiler from moving work on these registers across; without it zeroed accumulators serialise the first wgmma (C7515).
template <int N>
__device__ __forceinline__ void pin(float (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// A matrix in shared memory, swizzled by 128 or 64 bytes (layouts 1 and 2). K-major: rows as long as the swizzle, groups of 8 rows `group`
// bytes apart; `leading` is not used. MN-major: groups of 64 two-byte elements along m or n `leading` bytes apart, of 8 k `group` bytes apart.
template <int Swizzle = 128>
__device__ __forceinline__ uint64_t descriptor(uint32_t address, uint32_t leading, uint32_t group) {
  static_assert(Swizzle == 128 || Swizzle == 64, "the two that the kernels use");
  return static_cast<uint64_t>((address >> 4) & 0x3fff) | static_cast<uint64_t>(leading >> 4) << 16 | static_cast<uint64_t>(group >> 4) << 32 |
         uint64_t{Swizzle == 128 ? 1 : 2} << 62;
}
// Where 16-byte vector `vector` of row `row` lies in a tile that the copy engine has swizzled.
template <int Swizzle = 128>
__device__ __forceinline__ uint32_t swizzled(int row, int vector) {
  return row * Swizzle + ((Swizzle == 128 ? vector ^ (row & 7) : vector ^ (row >> 1 & 3)) << 4);
}

// Registers of an accumulator from `i` on, c: "+f", or "+f" where the product does not add to them.
#define TRITRI_D4(c, i) c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3])
#define TRITRI_D16(c, i) TRITRI_D4(c, i), TRITRI_D4(c, i + 4), TRITRI_D4(c, i + 8), TRITRI_D4(c, i + 12)
#define TRITRI_D32(c, i) TRITRI_D16(c, i), TRITRI_D16(c, i + 16)
#define TRITRI_D64(c, i) TRITRI_D32(c, i), TRITRI_D32(c, i + 32)
#define TRITRI_T16 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define TRITRI_T32 TRITRI_T16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define TRITRI_T48 TRITRI_T32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define TRITRI_T64 \
  TRITRI_T32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define TRITRI_T96 \
  TRITRI_T64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define TRITRI_T128                                                                                                                        \
  TRITRI_T96 ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120," \
             "%121,%122,%123,%124,%125,%126,%127"

// The first N columns of d (64 x 2 Size) = a b, or += where Add; a in registers (64 x 8), b in shared memory, K-major.
#define TRITRI_MMA_TF32(n, text, operands, add, ...) \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k8.f32.tf32.tf32 {" text "}, " operands ", " add ", 1, 1;" \
               : __VA_ARGS__ : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b))
template <int N, bool Add, int Size>
__device__ __forceinline__ void mma_tf32(float (&d)[Size], const uint32_t (&a)[4], uint64_t b) {
  static_assert(N % 32 == 0 && N <= 2 * Size && (Add || N <= 128), "whole blocks of 32 columns");
  if constexpr (!Add) {
    if constexpr (N == 32) TRITRI_MMA_TF32(32, TRITRI_T16, "{%16,%17,%18,%19}, %20", "0", TRITRI_D16("=f", 0));
    if constexpr (N == 64) TRITRI_MMA_TF32(64, TRITRI_T32, "{%32,%33,%34,%35}, %36", "0", TRITRI_D32("=f", 0));
    if constexpr (N == 96) TRITRI_MMA_TF32(96, TRITRI_T48, "{%48,%49,%50,%51}, %52", "0", TRITRI_D32("=f", 0), TRITRI_D16("=f", 32));
    if constexpr (N == 128) TRITRI_MMA_TF32(128, TRITRI_T64, "{%64,%65,%66,%67}, %68", "0", TRITRI_D64("=f", 0));
  } else {
    if constexpr (N == 32) TRITRI_MMA_TF32(32, TRITRI_T16, "{%16,%17,%18,%19}, %20", "1", TRITRI_D16("+f", 0));
    if constexpr (N == 64) TRITRI_MMA_TF32(64, TRITRI_T32, "{%32,%33,%34,%35}, %36", "1", TRITRI_D32("+f", 0));
    if constexpr (N == 96) TRITRI_MMA_TF32(96, TRITRI_T48, "{%48,%49,%50,%51}, %52", "1", TRITRI_D32("+f", 0), TRITRI_D16("+f", 32));
    if constexpr (N == 128) TRITRI_MMA_TF32(128, TRITRI_T64, "{%64,%65,%66,%67}, %68", "1", TRITRI_D64("+f", 0));
    if constexpr (N == 192) TRITRI_MMA_TF32(192, TRITRI_T96, "{%96,%97,%98,%99}, %100", "1", TRITRI_D64("+f", 0), TRITRI_D32("+f", 64));
    if constexpr (N == 256) TRITRI_MMA_TF32(256, TRITRI_T128, "{%128,%129,%130,%131}, %132", "1", TRITRI_D64("+f", 0), TRITRI_D64("+f", 64));
  }
}
#undef TRITRI_MMA_TF32

// The first N columns of d (64 x 2 Size) += a b, k 16; both in shared memory, K-major or not: then a is M-major, b N-major.
#define TRITRI_MMA16(n, type, text, end, ...)                                                                                       \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" text "}, " end ";" : __VA_ARGS__ : "l"(a), "l"(b), \
               "n"(AKMajor ? 0 : 1), "n"(BKMajor ? 0 : 1))
template <int N, bool Bfloat, bool AKMajor, bool BKMajor, int Size>
__device__ __forceinline__ void mma_16(float (&d)[Size], uint64_t a, uint64_t b) {
  static_assert(N == 64 || N == 128 || N == 192 || N == 256, "whole blocks of 64 columns");
  if constexpr (Bfloat) {
    if constexpr (N == 64) TRITRI_MMA16(64, "bf16", TRITRI_T32, "%32, %33, 1, 1, 1, %34, %35", TRITRI_D32("+f", 0));
    if constexpr (N == 128) TRITRI_MMA16(128, "bf16", TRITRI_T64, "%64, %65, 1, 1, 1, %66, %67", TRITRI_D64("+f", 0));
    if constexpr (N == 192) TRITRI_MMA16(192, "bf16", TRITRI_T96, "%96, %97, 1, 1, 1, %98, %99", TRITRI_D64("+f", 0), TRITRI_D32("+f", 64));
    if constexpr (N == 256) TRITRI_MMA16(256, "bf16", TRITRI_T128, "%128, %129, 1, 1, 1, %130, %131", TRITRI_D64("+f", 0), TRITRI_D64("+f", 64));
  } else {
    if constexpr (N == 64) TRITRI_MMA16(64, "f16", TRITRI_T32, "%32, %33, 1, 1, 1, %34, %35", TRITRI_D32("+f", 0));
    if constexpr (N == 128) TRITRI_MMA16(128, "f16", TRITRI_T64, "%64, %65, 1, 1, 1, %66, %67", TRITRI_D64("+f", 0));
    if constexpr (N == 192) TRITRI_MMA16(192, "f16", TRITRI_T96, "%96, %97, 1, 1, 1, %98, %99", TRITRI_D64("+f", 0), TRITRI_D32("+f", 64));
    if constexpr (N == 256) TRITRI_MMA16(256, "f16", TRITRI_T128, "%128, %129, 1, 1, 1, %130, %131", TRITRI_D64("+f", 0), TRITRI_D64("+f", 64));
  }
}
#undef TRITRI_MMA16
#undef TRITRI_T128
#undef TRITRI_T96
#undef TRITRI_T64
#undef TRITRI_T48
#undef TRITRI_T32
#undef TRITRI_T16
#undef TRITRI_D64
#undef TRITRI_D32
#undef TRITRI_D16
#undef TRITRI_D4

}  // namespace tritri::cuda::hopper
