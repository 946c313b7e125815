"""rsync -z between two local folders, through a remote shell that is none."""

import inputs
from driver import scenario

# rsync calls it as it would call ssh: HOST COMMAND ARGS…
SHELL = "#!/bin/sh\nshift\nexec \"$@\"\n"


def _statistics(output):
    """What rsync counted of the content; the bytes on the wire follow the compressor."""
    return [line for line in output.decode().splitlines()
            if line.startswith(("Number of", "Total file size", "Literal data", "Matched data"))]


@scenario("rsync", needs=("rsync",), takes=("inflate",))
def rsync(side):
    remote = side.home / "remote-shell"
    remote.write_text(SHELL)
    remote.chmod(0o755)
    source = side.folder / "source"
    inputs.tree(source, side.seed, 300, 3_000_000 * side.scale)

    def copy(choice, target):
        # rsync finds both sides' abilities by exchanging lists, so each method is asked for.
        return side.run("rsync", "-az", f"--compress-choice={choice}", "--checksum-choice=md5",
                        "--no-whole-file", "--stats", "-e", remote, "--delete", "--times",
                        f"{source}/", f"localhost:{target}/")

    for choice in ("zlib", "zlibx", "zstd", "lz4"):
        side.see(f"{choice}, first", _statistics(copy(choice, side.folder / choice)))
        side.see_tree(f"{choice}, first copy", side.folder / choice)
    changed = bytearray((source / "large.txt").read_bytes())
    for at in range(0, len(changed), 300_000):
        changed[at:at + 3] = b"changed"
    (source / "large.txt").write_bytes(changed)
    (source / "part3/new").write_bytes(inputs.mixed(side.seed + 9, 300_000))
    for choice in ("zlib", "zlibx", "zstd", "lz4"):
        side.see(f"{choice}, again", _statistics(copy(choice, side.folder / choice)))
        side.see_tree(f"{choice}, second copy", side.folder / choice)
