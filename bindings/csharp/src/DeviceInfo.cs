using System;
using System.Text;

namespace Tritri
{
    /// <summary>A device as the library sees it.</summary>
    public sealed class DeviceInfo
    {
        private const int Numbers = 10, NameBytes = 128, DetailsBytes = 512;

        private readonly long[] values = new long[Numbers + (NameBytes + DetailsBytes) / sizeof(long)];

        internal DeviceInfo(Action<long[]> fill)
        {
            fill(values);
        }

        /// <summary>CPU or CUDA.</summary>
        public Device Kind { get { return (Device)values[0]; } }

        /// <summary>Which device of its kind.</summary>
        public int Index { get { return (int)values[1]; } }

        /// <summary>Such as "NVIDIA H200".</summary>
        public string Name { get { return Text(0, NameBytes); } }

        /// <summary>One sentence: what computes there, and which cuBLAS was found where, or what was tried.</summary>
        public string Details { get { return Text(NameBytes, DetailsBytes); } }

        /// <summary>Bytes.</summary>
        public long MemoryTotal { get { return values[2]; } }

        /// <summary>Bytes.</summary>
        public long MemoryFree { get { return values[3]; } }

        /// <summary>The CUDA compute capability, such as 9.0; 0.0 for the CPU.</summary>
        public Version ComputeCapability { get { return new Version((int)values[4], (int)values[5]); } }

        /// <summary>SMs, or hardware threads that this process may use.</summary>
        public int Multiprocessors { get { return (int)values[6]; } }

        /// <summary>As CUDA counts: 13000 is 13.0; 0 for the CPU.</summary>
        public int DriverVersion { get { return (int)values[7]; } }

        /// <summary>Of the CUDA runtime inside the library; 0 for the CPU.</summary>
        public int RuntimeVersion { get { return (int)values[8]; } }

        /// <summary>cuBLAS as CUDA counts, 0: not found; 0 for the CPU, which needs none.</summary>
        public int BlasVersion { get { return (int)values[9]; } }

        private string Text(int begin, int length)
        {
            byte[] bytes = new byte[length];
            Buffer.BlockCopy(values, Numbers * sizeof(long) + begin, bytes, 0, length);
            int end = Array.IndexOf(bytes, (byte)0);
            return Encoding.UTF8.GetString(bytes, 0, end < 0 ? length : end);
        }

        /// <inheritdoc/>
        public override string ToString() { return Kind + " " + Index + ": " + Name + " (" + Details + ")"; }
    }
}
