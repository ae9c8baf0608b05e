package org.tritri;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.function.LongConsumer;

/**
 * One native object and who uses it. {@link #close} may come from the owner, from another thread or from the cleaner, at any time: the object
 * is destroyed once, and not before the last call on it has returned. A handle does not know its owner, or the owner could never
 * become unreachable.
 */
final class Handle {
  private static final Cleaner CLEANER = Cleaner.create();

  private final String name;
  private final long address;
  private final LongConsumer destroy;
  private int users;
  private boolean closed;

  Handle(String name, long address, LongConsumer destroy) {
    this.name = name;
    this.address = address;
    this.destroy = destroy;
  }

  /** Closes this handle when {@code owner} has become unreachable without having been closed. */
  void cleanWith(Object owner) {
    CLEANER.register(owner, this::close);
  }

  /**
   * Keeps the object alive until the result is closed.
   *
   * @param owner whose reachability keeps the cleaner away until this use has been counted
   * @throws IllegalStateException if the handle is closed
   */
  Use use(Object owner) {
    synchronized (this) {
      if (closed) throw new IllegalStateException(name + " is closed");
      users++;
    }
    Reference.reachabilityFence(owner);
    return new Use();
  }

  void close() {
    synchronized (this) {
      if (closed) return;
      closed = true;
      if (users > 0) return;
    }
    destroy.accept(address);
  }

  synchronized boolean isClosed() {
    return closed;
  }

  private void release() {
    synchronized (this) {
      if (--users > 0 || !closed) return;
    }
    destroy.accept(address);
  }

  /** A call's hold on the native object. */
  final class Use implements AutoCloseable {
    long address() {
      return address;
    }

    @Override
    public void close() {
      release();
    }
  }
}
