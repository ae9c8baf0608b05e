using System;
using System.Collections.Generic;
using System.Linq;
using Mono.Cecil;

/// <summary>
/// Retarget.exe IN OUT: writes an assembly that mcs compiled as one for netstandard2.0. Mono's framework has Span in mscorlib, and mcs therefore names mscorlib; .NET
/// has it elsewhere. What an assembly refers to is a name in a table: Span and its kin come from System.Memory, everything else from netstandard.
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
        assembly.Write(arguments[1]);
    }
}
