using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Numerics;

namespace Tritri.Tests
{
    /// <summary>One block of tests/bindings/vectors/vectors.txt; the README beside it says what the lines mean.</summary>
    public sealed class VectorCase
    {
        public string Name;
        public Dtype Dtype;
        public readonly MultiplyOptions Options = new MultiplyOptions();
        public readonly Dictionary<string, Layout> Layouts = new Dictionary<string, Layout>();
        public readonly Dictionary<string, double[]> Data = new Dictionary<string, double[]>();
        public double[] Expected;
        public double Tolerance;
        public string Refused;

        public override string ToString() { return Name; }

        public static List<VectorCase> Read()
        {
            string path = Path.Combine(Environment.GetEnvironmentVariable("TRITRI_SOURCE"), "tests", "bindings", "vectors", "vectors.txt");
            var cases = new List<VectorCase>();
            VectorCase now = null;
            foreach (string line in File.ReadLines(path))
            {
                if (line.Length == 0 || line[0] == '#') continue;
                string[] words = line.Split(' ');
                if (words[0] == "case") now = new VectorCase { Name = words[1] };
                else if (words[0] == "end") cases.Add(now);
                else now.Take(words, line);
            }
            return cases;
        }

        private void Take(string[] words, string line)
        {
            switch (words[0])
            {
                case "dtype": Dtype = Named<Dtype>(words[1]); break;
                case "ops": Options.OpA = OpOf(words[1]); Options.OpB = OpOf(words[2]); break;
                case "alpha": Options.Alpha = new Complex(Number(words[1]), Number(words[2])); break;
                case "beta": Options.Beta = new Complex(Number(words[1]), Number(words[2])); break;
                case "compute": Options.Compute = Named<Compute>(words[1]); break;
                case "a": case "b": case "c":
                    Layout one = new Layout(Dtype, long.Parse(words[1]), long.Parse(words[2])).WithFill(Named<Fill>(words[3]))
                        .WithDiag(Named<Diag>(words[4])).WithOrder(Named<Order>(words[5])).WithLd(long.Parse(words[6]));
                    Layouts[words[0]] = words.Length == 7 ? one : one.WithStorage(Named<Storage>(words[7])).WithBatch(long.Parse(words[8]), long.Parse(words[9]));
                    break;
                case "a_data": case "b_data": case "c_data": Data[words[0].Substring(0, 1)] = Numbers(words); break;
                case "expected": Expected = Numbers(words); break;
                case "tolerance": Tolerance = Number(words[1]); break;
                case "refused": Refused = line.Substring("refused ".Length); break;
                default: throw new InvalidDataException("vectors.txt: unknown line: " + line);
            }
        }

        private static T Named<T>(string name) { return (T)Enum.Parse(typeof(T), name, true); }

        private static Op OpOf(string letter)
        {
            switch (letter)
            {
                case "N": return Op.None;
                case "T": return Op.Transpose;
                case "C": return Op.ConjTranspose;
                default: return Op.Conj;
            }
        }

        private static double Number(string word) { return double.Parse(word, CultureInfo.InvariantCulture); }

        private static double[] Numbers(string[] words) { return words.Skip(1).Select(Number).ToArray(); }
    }
}
