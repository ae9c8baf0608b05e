using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;
using NUnit.Framework;

namespace Tritri.Tests
{
    /// <summary>The code of bindings/csharp/README.md and the examples, run as a reader would run them.</summary>
    [TestFixture]
    public sealed class DocumentsTest
    {
        private static readonly string Source = Environment.GetEnvironmentVariable("TRITRI_SOURCE"), Build = Environment.GetEnvironmentVariable("TRITRI_BUILD");

        /// <summary>Each csharp block is a program, the sh block after it runs that program, and the text block says what it prints.</summary>
        public static IEnumerable<TestCaseData> Blocks
        {
            get
            {
                string name = null, program = null, command = null;
                string readme = File.ReadAllText(Path.Combine(Source, "bindings", "csharp", "README.md"));
                foreach (Match block in Regex.Matches(readme, "^```(\\w+)\n(.*?)^```$", RegexOptions.Multiline | RegexOptions.Singleline))
                {
                    string kind = block.Groups[1].Value, text = block.Groups[2].Value;
                    if (kind == "csharp")
                    {
                        program = text;
                        name = Regex.Match(text, "public static class (\\w+)").Groups[1].Value;
                    }
                    else if (kind == "sh" && name != null)
                    {
                        command = text.Replace("build/release", Build);
                    }
                    else if (kind == "text")
                    {
                        yield return new TestCaseData(name, program, command, text).SetName("Readme " + name + ".cs");
                    }
                }
            }
        }

        [TestCaseSource("Blocks")]
        public void Readme(string name, string program, string command, string text)
        {
            string folder = Path.Combine(Path.GetTempPath(), "tritri-" + Guid.NewGuid().ToString("N"));
            Directory.CreateDirectory(folder);
            try
            {
                File.WriteAllText(Path.Combine(folder, name + ".cs"), program);
                string script = Path.Combine(folder, "run.sh");
                File.WriteAllText(script, command);
                Assert.AreEqual(text, Output(folder, "bash", script));
            }
            finally
            {
                Directory.Delete(folder, true);
            }
        }

        [Test]
        public void ReadmeHasItsBlocks() { Assert.AreEqual(5, Blocks.Count()); }

        public static IEnumerable<string> Examples
        {
            get { return Directory.GetFiles(Path.Combine(Source, "bindings", "csharp", "examples"), "*.cs").Select(Path.GetFileNameWithoutExtension); }
        }

        [TestCaseSource("Examples")]
        public void Example(string name)
        {
            // run.sh has compiled them.
            StringAssert.EndsWith(", right\n", Output("/", "mono", Path.Combine(Build, "csharp", "tests", name + ".exe") + " " + Path.Combine(Source, "bindings", "c", "data", "digits.txt")));
        }

        /// <summary>The portable symbols: a refusal's stack trace has files and lines.</summary>
        [Test]
        public void StackTracesHaveLines()
        {
            StringAssert.IsMatch(@"in /_/bindings/csharp/src/Check\.cs:[1-9][0-9]* ", Output("/", "mono", "--debug " + Path.Combine(Build, "csharp", "tests", "LineNumbers.exe")));
        }

        private static string Output(string folder, string command, string argument)
        {
            var start = new ProcessStartInfo(command, argument) { UseShellExecute = false, RedirectStandardOutput = true, RedirectStandardError = true, WorkingDirectory = folder };
            using (Process process = Process.Start(start))
            {
                string said = process.StandardOutput.ReadToEnd(), complaints = process.StandardError.ReadToEnd();
                process.WaitForExit();
                Assert.AreEqual(0, process.ExitCode, said + complaints);
                return said;
            }
        }
    }
}
