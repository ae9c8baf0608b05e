using System;
using System.Diagnostics;
using System.IO;
using NUnit.Framework;

namespace Tritri.Tests
{
    /// <summary>What becomes of each status, and of a native library that is not there.</summary>
    [TestFixture]
    public sealed class ErrorsTest
    {
        private static readonly string Build = Path.Combine(Environment.GetEnvironmentVariable("TRITRI_BUILD"), "csharp");

        private string folder;

        [SetUp]
        public void MakeFolder()
        {
            folder = Path.Combine(Path.GetTempPath(), "tritri-" + Guid.NewGuid().ToString("N"));
            Directory.CreateDirectory(folder);
            File.Copy(Path.Combine(Build, "Tritri.dll"), Path.Combine(folder, "Tritri.dll"));
            File.Copy(Path.Combine(Build, "tests", "MissingLibrary.exe"), Path.Combine(folder, "MissingLibrary.exe"));
        }

        [TearDown]
        public void RemoveFolder() { Directory.Delete(folder, true); }

        [Test]
        public void B6_OutOfMemoryLeavesTheMachineAlive()
        {
            using (var context = new Context(Device.Cpu))
            {
                for (int i = 0; i < 100; i++)
                {
                    TritriException failure = Assert.Throws<TritriException>(() => context.Create(Layout.Float64(1L << 40, 4)));
                    Assert.AreEqual("TRITRI_OUT_OF_MEMORY", failure.StatusName);
                    Assert.AreEqual(2, failure.Status);
                    StringAssert.Contains("35184372088832", failure.Message);
                }
                context.Create(Layout.Float64(4, 4)).Dispose();
            }
        }

        [Test]
        public void MissingDeviceIsAnException()
        {
            int beyond = TriMath.DeviceCount(Device.Cuda);
            TritriException failure = Assert.Throws<TritriException>(() => new Context(new ContextOptions { Device = Device.Cuda, DeviceIndex = beyond }));
            // A build without CUDA says that it cannot, one with CUDA that there is no such device.
            CollectionAssert.Contains(new[] { "TRITRI_NO_DEVICE", "TRITRI_NOT_SUPPORTED" }, failure.StatusName);
            StringAssert.StartsWith("tritri_context_create: ", failure.Message);
        }

        [Test]
        public void ContextOptionsReachTheLibrary()
        {
            Values.Refused("tritri_context_create: options: threads must be 0 (all) to 1024, got 1025", () => new Context(new ContextOptions { Threads = 1025 }));
            Values.Refused("tritri_context_create: options: device_index must be at least 0, got -2", () => new Context(new ContextOptions { DeviceIndex = -2 }));
            Assert.Throws<ArgumentException>(() => new Context(new ContextOptions { Device = Device.Cpu, Stream = (IntPtr)8 }));
        }

        [Test]
        public void LibraryIsFoundBesideTheAssembly()
        {
            StringAssert.StartsWith("version ", Run(Build)[0]);
            StringAssert.EndsWith("product 6", Run(Build)[0]);
        }

        [Test]
        public void LibraryIsFoundInAPackagesFolder()
        {
            File.Copy(Path.Combine(Build, "libtritri_csharp.so"), Path.Combine(folder, "libtritri_csharp.so"));
            File.Copy(Path.Combine(Build, "..", "lib", "libtritri.so.0"), Path.Combine(folder, "libtritri.so.0"));
            StringAssert.StartsWith("version ", Run(null)[0]);
        }

        [Test]
        public void B8_MissingLibraryNamesEveryPlace()
        {
            string[] lines = Run(null, "/nowhere/at/all");
            Assert.AreEqual(lines[0], lines[1], "the same message each time");
            foreach (string part in new[] { "libtritri_csharp.so is not there", "libtritri.so.0 is not there", folder, "LD_LIBRARY_PATH=/nowhere/at/all", "system's library folders" })
            {
                StringAssert.Contains(part, lines[0]);
            }
        }

        [Test]
        public void B8_MissingSecondLibraryIsSaid()
        {
            File.Copy(Path.Combine(Build, "libtritri_csharp.so"), Path.Combine(folder, "libtritri_csharp.so"));
            StringAssert.Contains("libtritri_csharp.so is there, libtritri.so.0 is not there", Run(null)[0]);
        }

        [Test]
        public void B8_LibraryForAnotherPlatformIsSaid()
        {
            File.WriteAllText(Path.Combine(folder, "libtritri_csharp.so"), "not a library");
            StringAssert.Contains("libtritri_csharp.so is there", Run(null)[0]);
            StringAssert.Contains("for this platform", Run(null)[0]);
        }

        /// <summary>The lines that MissingLibrary.exe prints beside a copy of Tritri.dll, or with the Tritri.dll of another folder.</summary>
        private string[] Run(string monoPath, string libraryPath = null)
        {
            var start = new ProcessStartInfo("mono", Path.Combine(folder, "MissingLibrary.exe")) { UseShellExecute = false, RedirectStandardOutput = true, WorkingDirectory = "/" };
            start.EnvironmentVariables.Remove("MONO_PATH");
            if (monoPath != null)
            {
                File.Delete(Path.Combine(folder, "Tritri.dll"));
                start.EnvironmentVariables["MONO_PATH"] = monoPath;
            }
            if (libraryPath != null) start.EnvironmentVariables["LD_LIBRARY_PATH"] = libraryPath;
            using (Process process = Process.Start(start))
            {
                string text = process.StandardOutput.ReadToEnd();
                process.WaitForExit();
                return text.Split('\n');
            }
        }
    }
}
