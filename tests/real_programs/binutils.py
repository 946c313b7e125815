"""binutils: debug sections compressed by zlib and zstd, each section in one call."""

import inputs
from driver import scenario

SECTIONS = {"debug_str": inputs.text, "debug_info": inputs.mixed, "debug_line": inputs.noise}


@scenario("binutils", needs=("objcopy", "readelf", "ld", "cc"), takes=("inflate",))
def binutils(side):
    side.run("cc", "-x", "c", "-c", "-o", "plain.o", "-", input=b"int main(void) { return 0; }\n")
    words = []
    for name, make in SECTIONS.items():
        (side.folder / name).write_bytes(make(side.seed, 2_000_000 * side.scale))
        words += ["--add-section", f".{name}={name}"]
    side.run("objcopy", *words, "plain.o", "full.o")
    for kind, operation in (("zlib", "deflate"), ("zstd", "zstd"), ("zlib-gnu", "deflate")):
        packed, back = f"{kind}.o", f"{kind}-back.o"
        side.run("objcopy", f"--compress-debug-sections={kind}", "full.o", packed)
        side.see_encoded(operation, kind, (side.folder / packed).read_bytes())
        side.run("objcopy", "--decompress-debug-sections", packed, back)
        for name in SECTIONS:
            side.run("objcopy", "-O", "binary", "--set-section-flags", f".{name}=alloc", "-j",
                     f".{name}", back, f"{kind}-{name}")
            side.expect((side.folder / f"{kind}-{name}").read_bytes()
                        == (side.folder / name).read_bytes(), f"{kind}: .{name} came back changed")
        side.see(f"{kind}, shown", side.run("readelf", "-z", "-p", ".debug_str", packed))
        side.run("ld", "-r", f"--compress-debug-sections={kind}", "-o", f"linked-{kind}", packed)
        side.see_encoded(operation, f"{kind}, linked",
                         (side.folder / f"linked-{kind}").read_bytes())
