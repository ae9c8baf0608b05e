/**
 * Products of triangular matrices. {@link org.tritri.Tritri} multiplies arrays in one call; {@link org.tritri.Context} and
 * {@link org.tritri.Matrix} keep matrices on a device. {@link org.tritri.Context} says what holds for threads, life, errors and memory.
 */
package org.tritri;
