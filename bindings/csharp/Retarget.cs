using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Mono.Cecil;
using Mono.Cecil.Cil;
using Mono.CompilerServices.SymbolWriter;

/// <summary>
/// Retarget.exe IN OUT FRAMEWORK [SOURCE_ROOT]: what mcs leaves to do. FRAMEWORK "netstandard2.0" writes the assembly as one for netstandard2.0: Mono's framework has Span in
/// mscorlib, and mcs therefore names mscorlib; .NET has it elsewhere. What an assembly refers to is a name in a table: Span and its kin come from System.Memory,
/// everything else from netstandard. "same" leaves those names. With SOURCE_ROOT, the line numbers that mcs -debug wrote to IN.mdb, which Mono alone reads,
/// become a portable PDB beside OUT, with the sources of that folder inside.
/// </summary>
internal static class Retarget
{
    private static readonly byte[] Token = { 0xcc, 0x7b, 0x13, 0xff, 0xcd, 0x2d, 0xdd, 0x51 };

    // Of the NuGet package System.Memory 4.5.5, which Tritri.csproj names.
    private static readonly AssemblyNameReference Memory = new AssemblyNameReference("System.Memory", new Version(4, 0, 1, 2)) { PublicKeyToken = Token };
    private static readonly AssemblyNameReference Standard = new AssemblyNameReference("netstandard", new Version(2, 0, 0, 0)) { PublicKeyToken = Token };

    private static readonly HashSet<string> InMemory = new HashSet<string>
    {
        "System.Span`1", "System.ReadOnlySpan`1", "System.Memory`1", "System.ReadOnlyMemory`1", "System.Runtime.InteropServices.MemoryMarshal"
    };

    private static void Main(string[] arguments)
    {
        AssemblyDefinition assembly = AssemblyDefinition.ReadAssembly(arguments[0]);
        bool symbols = arguments.Length > 3;
        if (symbols) AddLines(assembly.MainModule, MonoSymbolFile.ReadSymbolFile(arguments[0] + ".mdb"), Path.GetFullPath(arguments[3]));
        if (arguments[2] == "netstandard2.0") ForNetstandard(assembly);
        var writing = new WriterParameters { WriteSymbols = symbols };
        if (symbols) writing.SymbolWriterProvider = new PortablePdbWriterProvider();
        assembly.Write(arguments[1], writing);
    }

    private static void ForNetstandard(AssemblyDefinition assembly)
    {
        ModuleDefinition module = assembly.MainModule;
        AssemblyNameReference[] framework = module.AssemblyReferences.Where(name => name.Name == "mscorlib" || name.Name.StartsWith("System")).ToArray();
        module.AssemblyReferences.Add(Memory);
        module.AssemblyReferences.Add(Standard);
        foreach (TypeReference type in module.GetTypeReferences().Where(type => !type.IsNested && framework.Contains(type.Scope)).ToArray())
        {
            type.Scope = InMemory.Contains(type.FullName) ? Memory : Standard;
        }
        foreach (AssemblyNameReference name in framework) module.AssemblyReferences.Remove(name);

        var attribute = new TypeReference("System.Runtime.Versioning", "TargetFrameworkAttribute", module, Standard);
        var constructor = new MethodReference(".ctor", module.TypeSystem.Void, attribute) { HasThis = true };
        constructor.Parameters.Add(new ParameterDefinition(module.TypeSystem.String));
        var target = new CustomAttribute(constructor);
        target.ConstructorArguments.Add(new CustomAttributeArgument(module.TypeSystem.String, ".NETStandard,Version=v2.0"));
        assembly.CustomAttributes.Add(target);
    }

    private static void AddLines(ModuleDefinition module, MonoSymbolFile file, string root)
    {
        var documents = new Dictionary<string, Document>();
        foreach (TypeDefinition type in module.GetTypes())
        {
            foreach (MethodDefinition method in type.Methods.Where(method => method.HasBody))
            {
                MethodEntry entry = file.GetMethodByToken(method.MetadataToken.ToInt32());
                if (entry == null) continue;
                foreach (LineNumberEntry line in entry.GetLineNumberTable().LineNumbers)
                {
                    Instruction instruction = method.Body.Instructions.FirstOrDefault(one => one.Offset == line.Offset);
                    if (instruction == null) continue;
                    // 0xfeefee is the line of what has none in the source.
                    bool hidden = line.IsHidden || line.Row == 0xfeefee;
                    method.DebugInformation.SequencePoints.Add(new SequencePoint(instruction, Source(documents, file.GetSourceFile(line.File).FileName, root))
                    {
                        StartLine = hidden ? 0xfeefee : line.Row,
                        StartColumn = hidden ? 0 : Math.Max(1, line.Column),
                        EndLine = hidden ? 0xfeefee : Math.Max(line.Row, line.EndRow),
                        EndColumn = hidden ? 0 : Math.Max(Math.Max(1, line.Column) + 1, line.EndColumn)
                    });
                }
            }
        }
    }

    // Under "/_/", as deterministic builds name the root of their sources.
    private static Document Source(Dictionary<string, Document> documents, string path, string root)
    {
        path = Path.GetFullPath(path);
        Document document;
        if (documents.TryGetValue(path, out document)) return document;
        bool inside = path.StartsWith(root + "/");
        document = new Document(inside ? "/_/" + path.Substring(root.Length + 1) : "/_/generated/" + Path.GetFileName(path)) { Language = DocumentLanguage.CSharp };
        document.CustomDebugInformations.Add(new EmbeddedSourceDebugInformation(File.ReadAllBytes(path), true));
        return documents[path] = document;
    }
}
