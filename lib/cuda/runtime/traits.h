// A card's figures, read off the card.
#pragma once
#include "cuda/traits.h"

namespace tritri::cuda {

GpuTraits read_traits(int device);

}  // namespace tritri::cuda
