using System;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;

namespace Tritri.Internal
{
    /// <summary>A native context. P/Invoke holds it for the length of each call, so that it is destroyed once and never under a call.</summary>
    internal sealed class ContextHandle : SafeHandle
    {
        public ContextHandle() : base(IntPtr.Zero, true) { }

        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }

        protected override bool ReleaseHandle()
        {
            TritriNative.release_context(handle);
            return true;
        }
    }

    /// <summary>A native matrix, held in the same way.</summary>
    internal sealed class MatrixHandle : SafeHandle
    {
        public MatrixHandle() : base(IntPtr.Zero, true) { }

        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }

        protected override bool ReleaseHandle()
        {
            TritriNative.release_matrix(handle);
            return true;
        }
    }

    /// <summary>Memory of tritri_host_allocate, held in the same way. It holds its context, whose device frees it.</summary>
    internal sealed class HostHandle : SafeHandle
    {
        private ContextHandle context;

        public HostHandle() : base(IntPtr.Zero, true) { }

        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }

        public void Own(ContextHandle device, IntPtr address)
        {
            bool held = false;
            device.DangerousAddRef(ref held);
            context = device;
            SetHandle(address);
        }

        protected override bool ReleaseHandle()
        {
            TritriNative.release_host(context.DangerousGetHandle(), handle);
            context.DangerousRelease();
            return true;
        }
    }

    /// <summary>Holds memory of the library's own for the length of a call, since what crosses is its address.</summary>
    internal struct HeldMemory : IDisposable
    {
        private readonly HostHandle memory;
        private bool held;

        public HeldMemory(HostHandle memory)
        {
            this.memory = memory;
            held = false;
            memory.DangerousAddRef(ref held);
        }

        public IntPtr Address { get { return memory.DangerousGetHandle(); } }

        public void Dispose()
        {
            if (held) memory.DangerousRelease();
            held = false;
        }
    }

    internal static class Status
    {
        /// <summary>Turns what a call returned into an exception, unless it is TRITRI_OK.</summary>
        public static int Check(int status)
        {
            if (status == TritriNative.TRITRI_OK) return status;
            string message = TritriNative.tritri_last_error();
            if (status == TritriNative.TRITRI_INVALID_ARGUMENT) throw new ArgumentException(message);
            throw new TritriException(status, message);
        }
    }

    internal static class Text
    {
        /// <summary>Copies UTF-8 text that ends with a 0 byte.</summary>
        public static string At(IntPtr address)
        {
            int length = 0;
            while (Marshal.ReadByte(address, length) != 0) length++;
            byte[] bytes = new byte[length];
            Marshal.Copy(address, bytes, 0, length);
            return Encoding.UTF8.GetString(bytes);
        }

        public static string Of(byte[] bytes)
        {
            return Encoding.UTF8.GetString(bytes, 0, Array.IndexOf(bytes, (byte)0));
        }
    }

    internal static class NativeCode
    {
        private static bool loaded;

        /// <summary>Sees to it that a missing native library is reported by name and place, before anything else is called.</summary>
        public static void Load()
        {
            if (loaded) return;
            try
            {
                TritriNative.tritri_version();
                loaded = true;
            }
            catch (Exception e) when (e is DllNotFoundException || e is EntryPointNotFoundException || e is BadImageFormatException)
            {
                throw new DllNotFoundException(
                    "Tritri: native library: libtritri_csharp.so and libtritri.so.0 for this platform must be beside Tritri.dll or on the library path, and could " +
                    "not be loaded: 1. beside the assembly, " + Folder() + " (" + Presence(Folder()) + "); 2. in the application's folder, " +
                    AppContext.BaseDirectory + " (" + Presence(AppContext.BaseDirectory) + "); 3. LD_LIBRARY_PATH=" +
                    Environment.GetEnvironmentVariable("LD_LIBRARY_PATH") + "; 4. the system's library folders; the loader said: " + e.Message, e);
            }
        }

        private static string Folder()
        {
            return Path.GetDirectoryName(typeof(NativeCode).Assembly.Location);
        }

        private static string Presence(string folder)
        {
            string[] names = { "libtritri_csharp.so", "libtritri.so.0" };
            return string.Join(", ", Array.ConvertAll(names, name => name + (File.Exists(Path.Combine(folder, name)) ? " is there" : " is not there")));
        }
    }
}
