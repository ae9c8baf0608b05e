"""Packs Tritri.VERSION.nupkg: python packaging/nuget/pack.py VERSION BUILD_TREE OUT_FOLDER

A .nupkg is a zip in the Open Packaging Convention: the nuspec, a relationship that points to it, and the content types of all that is inside.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELATIONSHIPS = """<?xml version="1.0" encoding="utf-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
  <Relationship Type="http://schemas.microsoft.com/packaging/2010/07/manifest" Target="/Tritri.nuspec" Id="nuspec" />
</Relationships>
"""


def stripped(library, scratch):
    copy = pathlib.Path(scratch) / library.name
    shutil.copy(library, copy)  # follows the link libtritri.so.0
    subprocess.run(["strip", "--strip-unneeded", copy], check=True)
    return copy.read_bytes()


def content_types(names):
    extensions = sorted({name.rsplit(".", 1)[-1] for name in names if "." in name.rsplit("/", 1)[-1]} | {"rels"})
    kinds = {"rels": "application/vnd.openxmlformats-package.relationships+xml"}
    defaults = "".join(f'  <Default Extension="{one}" ContentType="{kinds.get(one, "application/octet")}" />\n' for one in extensions)
    overrides = "".join(
        f'  <Override PartName="/{name}" ContentType="application/octet" />\n' for name in names if "." not in name.rsplit("/", 1)[-1]
    )
    head = '<?xml version="1.0" encoding="utf-8"?>\n<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">\n'
    return head + defaults + overrides + "</Types>\n"


def main(version, tree, out):
    tree = pathlib.Path(tree)
    with tempfile.TemporaryDirectory() as scratch:
        files = {
            "Tritri.nuspec": (ROOT / "packaging/nuget/Tritri.nuspec.in").read_text().replace("@version@", version),
            "README.md": (ROOT / "bindings/csharp/README.md").read_text(),
            # Mono's own framework has Span in mscorlib, so that it has an assembly of its own.
            "lib/net472/Tritri.dll": (tree / "csharp/Tritri.dll").read_bytes(),
            "lib/net472/Tritri.pdb": (tree / "csharp/Tritri.pdb").read_bytes(),
            "lib/net472/Tritri.xml": (tree / "csharp/Tritri.xml").read_bytes(),
            "lib/netstandard2.0/Tritri.dll": (tree / "csharp/netstandard2.0/Tritri.dll").read_bytes(),
            "lib/netstandard2.0/Tritri.pdb": (tree / "csharp/netstandard2.0/Tritri.pdb").read_bytes(),
            "lib/netstandard2.0/Tritri.xml": (tree / "csharp/Tritri.xml").read_bytes(),
            "runtimes/linux-x64/native/libtritri.so.0": stripped(tree / "lib/libtritri.so.0", scratch),
            "runtimes/linux-x64/native/libtritri_csharp.so": stripped(tree / "csharp/libtritri_csharp.so", scratch),
        }
    with zipfile.ZipFile(pathlib.Path(out) / f"Tritri.{version}.nupkg", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as package:
        package.writestr("[Content_Types].xml", content_types(files))
        package.writestr("_rels/.rels", RELATIONSHIPS)
        for name, content in files.items():
            package.writestr(name, content)


if __name__ == "__main__":
    main(*sys.argv[1:])
