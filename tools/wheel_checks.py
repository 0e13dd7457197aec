"""Checks that a wheel is what its name says: that each platform of its tag can load its binary."""

from __future__ import annotations

import re
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from tools.commands import ToolError, told

CROSS: Final = Path(__file__).resolve().parent / "cross"

# Besides Python's, a binary may name these functions of C. The last are what compilers call and
# linkers name on systems other than Windows, where a name that no library has does not link.
_C_FUNCTIONS: Final = frozenset(
    [
        *re.findall(r"^  (\w+)$", (CROSS / "ucrt.def").read_text("ascii"), re.MULTILINE),
        *("bcmp", "bzero", "__bzero", "dyld_stub_binder"),
    ]
)
_SYSTEM_OF_MACOS: Final = "/usr/lib/libSystem.B.dylib"
_OF_EVERY_DYLIB: Final = {"___dso_handle", "__mh_dylib_header"}
_DLLS: Final = {"python3.dll", "ucrtbase.dll"}
_INIT: Final = re.compile("_?PyInit_")


class Needs(NamedTuple):
    """What a binary needs of the platform that loads it."""

    tag: str  # the platform that its headers state
    libraries: set[str]
    names: set[str]  # that are taken from elsewhere
    offered: set[str]
    flaws: tuple[str, ...] = ()


def check(made: Sequence[Path]) -> None:
    """Check files of a release.

    Args:
        made: wheels and sdists.

    Raises:
        ToolError: at the first that is not what its name says.
    """
    wheels = [path for path in made if path.suffix == ".whl"]
    compiled = [path for path in wheels if "-abi3-" in path.name]
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as directory:
            binaries = _binaries(wheel, archive.namelist())
            for name in binaries:
                _check_binary(wheel, Path(archive.extract(name, directory)))
    for command, paths in (
        (("twine", "check", "--strict"), made),
        (("check_wheel_contents",), wheels),
        (("abi3audit", "--strict"), compiled),
    ):
        if paths:
            _told(command, paths)


def _told(command: Sequence[str], paths: Sequence[Path]) -> str:
    return told([sys.executable, "-m", *command, *map(str, paths)])


def _binaries(wheel: Path, names: Sequence[str]) -> list[str]:
    if sources := [name for name in names if name.endswith((".c", ".h", ".o", ".lib"))]:
        raise ToolError(f"{wheel.name} holds {', '.join(sources)}")
    binaries = [name for name in names if name.endswith((".so", ".pyd"))]
    if len(binaries) != ("-abi3-" in wheel.name):
        raise ToolError(f"{wheel.name} holds the binaries {binaries}")
    return binaries


def _check_binary(wheel: Path, binary: Path) -> None:
    tag = wheel.stem.rpartition("-")[2]
    system = re.sub("[^a-z].*", "", tag)
    needs, libraries = _SYSTEMS[system](wheel, binary)
    foreign = {name for name in needs.names if not name.startswith(("Py", "_Py"))}
    problems = [
        *needs.flaws,
        *(f"it needs the library {name}" for name in sorted(needs.libraries - libraries)),
        *(f"it needs the name {name}" for name in sorted(foreign - _C_FUNCTIONS)),
        *(f"it offers {name}" for name in sorted(needs.offered) if not _INIT.match(name)),
    ]
    if not any(_INIT.match(name) for name in needs.offered):
        problems.append("it does not offer its init function")
    if needs.tag not in tag.split("."):
        problems.append(f"its binary is for {needs.tag}")
    if problems:
        raise ToolError(f"{wheel.name}: {', '.join(problems)}")


def _linux(wheel: Path, binary: Path) -> tuple[Needs, set[str]]:
    from elftools.elf.elffile import ELFFile  # of the extra `wheels`

    with binary.open("rb") as file:
        elf = ELFFile(file)
        tags = list(elf.get_section_by_name(".dynamic").iter_tags())
        symbols = [one for one in elf.get_section_by_name(".dynsym").iter_symbols() if one.name]
        needs = Needs(
            _tag_of_linux(wheel),
            {entry.needed for entry in tags if entry.entry.d_tag == "DT_NEEDED"},
            {one.name for one in symbols if one["st_shndx"] == "SHN_UNDEF"},
            {one.name for one in symbols if one["st_shndx"] != "SHN_UNDEF"},
            tuple(_flaws(elf, {entry.entry.d_tag for entry in tags})),
        )
    return needs, set()


def _flaws(elf: Any, tags: set[str]) -> list[str]:
    executable = 1
    stacks = [part["p_flags"] for part in elf.iter_segments() if part["p_type"] == "PT_GNU_STACK"]
    found = {
        "its stack can be executed": not stacks or stacks[0] & executable,
        "its code is changed as it is loaded": "DT_TEXTREL" in tags,
        "it names versions of a library": elf.get_section_by_name(".gnu.version_r"),
        "it searches a path": tags & {"DT_RPATH", "DT_RUNPATH"},
    }
    return [flaw for flaw, is_true in found.items() if is_true]


def _tag_of_linux(wheel: Path) -> str:
    """Return the tag of the wheel, if auditwheel finds that or an older one."""
    tag = wheel.stem.rpartition("-")[2].partition(".")[0]
    shown = " ".join(_told(("auditwheel", "show"), [wheel]).split())
    named = re.search(r'following platform tag: "(\w+?)_(\d+)_(\d+)_(\w+)"', shown)
    if named is None:
        raise ToolError(f"{wheel.name}: auditwheel says {shown}")
    ours = re.fullmatch(r"(\w+?)_(\d+)_(\d+)_(\w+)", tag)
    assert ours is not None
    is_older = (int(named[2]), int(named[3])) <= (int(ours[2]), int(ours[3]))
    return (
        tag if is_older and (named[1], named[4]) == (ours[1], ours[4]) else "_".join(named.groups())
    )


def _macos(_: Path, binary: Path) -> tuple[Needs, set[str]]:
    from macholib.MachO import MachO
    from macholib.SymbolTable import SymbolTable

    macho = MachO(str(binary))
    (header,) = macho.headers
    processor = {0x01000007: "x86_64", 0x0100000C: "arm64"}[header.header.cputype]
    commands = {load.get_cmd_name(): value for load, value, _ in header.commands}
    version = commands.get("LC_BUILD_VERSION") or commands["LC_VERSION_MIN_MACOSX"]
    oldest = version.minos if hasattr(version, "minos") else version.version
    symbols = SymbolTable(macho)
    # arm64 runs only what is signed: the linker does it, with no identity.
    wanted = {"LC_UUID", *(["LC_CODE_SIGNATURE"] if processor == "arm64" else [])}
    return Needs(
        f"macosx_{oldest >> 16}_{oldest >> 8 & 255}_{processor}",
        {name for _, _, name in macho.headers[0].walkRelocatables()} - {binary.name},
        {name.decode().removeprefix("_") for _, name in symbols.undefsyms},
        {name.decode() for _, name in symbols.extdefsyms} - _OF_EVERY_DYLIB,
        tuple(f"it has no {name}" for name in sorted(wanted - {*commands})),
    ), {_SYSTEM_OF_MACOS}


def _windows(_: Path, binary: Path) -> tuple[Needs, set[str]]:
    from pefile import PE

    image = PE(str(binary))
    imports = image.DIRECTORY_ENTRY_IMPORT
    tags = {0x8664: "win_amd64", 0x14C: "win32", 0xAA64: "win_arm64"}
    randomised, not_executed = 0x40, 0x100
    flags = image.OPTIONAL_HEADER.DllCharacteristics
    return Needs(
        tags[image.FILE_HEADER.Machine],
        {library.dll.decode().lower() for library in imports},
        {name.name.decode() for library in imports for name in library.imports},
        {name.name.decode() for name in image.DIRECTORY_ENTRY_EXPORT.symbols},
        () if flags & randomised and flags & not_executed else ("its memory is not protected",),
    ), _DLLS


_SYSTEMS: Final[dict[str, Callable[[Path, Path], tuple[Needs, set[str]]]]] = {
    "manylinux": _linux,
    "musllinux": _linux,
    "macosx": _macos,
    "win": _windows,
}
