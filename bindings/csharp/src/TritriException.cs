using System;
using Tritri.Internal;

namespace Tritri
{
    /// <summary>A failure that is not the fault of an argument. The message is one sentence: function, argument or place, rule, and what was found.</summary>
    public sealed class TritriException : Exception
    {
        internal TritriException(int status, string message) : base(message)
        {
            Status = status;
        }

        /// <summary>The number of the <c>tritri_status</c>.</summary>
        public int Status { get; private set; }

        /// <summary>Its name, such as "TRITRI_OUT_OF_MEMORY".</summary>
        public string StatusName { get { return TritriNative.tritri_status_name(Status); } }
    }
}
