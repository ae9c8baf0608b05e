using System;

namespace Tritri
{
    /// <summary>Which device a context shall be on and what it may use.</summary>
    public sealed class ContextOptions
    {
        /// <summary>The kind of device.</summary>
        public Device Device { get; set; }

        /// <summary>Which CUDA device; 0 for the CPU.</summary>
        public int DeviceIndex { get; set; }

        /// <summary>A <c>cudaStream_t</c> to work on, which must outlive its use here; zero: the context's own.</summary>
        public IntPtr Stream { get; set; }

        /// <summary>CPU threads for each call, at most 1024; 0: as many as this process may run on.</summary>
        public int Threads { get; set; }

        /// <summary>Device memory set aside for products; 0: the library's choice.</summary>
        public long WorkspaceBytes { get; set; }

        internal long[] Values()
        {
            if (WorkspaceBytes < 0) throw Check.Refuse("ContextOptions", "WorkspaceBytes", "must be at least 0, got " + WorkspaceBytes);
            return new long[] { (long)Device, DeviceIndex, (long)Stream, Threads, WorkspaceBytes };
        }
    }
}
