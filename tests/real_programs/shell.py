"""Shell pipelines of the programs that Hoist replaces, and of archivers around them."""

import inputs
from driver import scenario


@scenario("pipelines", needs=("bash", "sort", "gzip", "sha256sum", "awk"),
          takes=("sort", "hash", "gunzip"), sanitized=True)
def pipelines(side):
    words = side.folder / "text"
    words.write_bytes(inputs.text(side.seed, 6_000_000 * side.scale))
    (side.folder / "numbers").write_bytes(inputs.numbers(side.seed, 400_000 * side.scale))
    for name, script in {
            "counted": "tr -s ' ' '\\n' <text | sort | uniq -c | sort -k1,1nr -k2 | sed -n 1,200p",
            "numbers": "sort -n numbers | sha256sum",
            "unique": "sort -u -k2,2 -k1n text | md5sum",
            "zipped": "gzip -c text | gzip -dc | sort -r | cksum",
            "zcat": "gzip -n1k numbers && zcat numbers.gz | awk '{s += $1} END {print s}'",
            "checked": "sha256sum text numbers >sums; b2sum text >>b2; sha256sum -c sums; "
                       "b2sum -c b2; sha512sum text | cut -c1-30",
            "joined": "join <(sort -k1,1 numbers | uniq) <(sort -k1,1 text) | sort | sha1sum",
            "broken pipe": "set +o pipefail; sort text | head -3",
            "damaged": "head -c 100000 numbers.gz >cut.gz; gzip -dc cut.gz | tail -1; "
                       "gzip -t cut.gz && echo fine",
    }.items():
        status = 0 if name != "damaged" else None
        side.see(name, side.shell(script, status=status).decode())
    side.see_tree("files", side.folder)


@scenario("archives", needs=("bash", "tar", "zip", "unzip", "pigz", "zstd", "xz"),
          takes=("gunzip", "crc32"))
def archives(side):
    source = side.folder / "source"
    inputs.tree(source, side.seed, 200, 2_000_000 * side.scale)
    side.shell("find source -exec touch -h -d '2020-01-01 00:00' {} +")
    side.shell("tar --sort=name -cf plain.tar source; tar --sort=name -czf gzip.tgz source; "
               "pigz -nkc plain.tar >pigz.tgz; zstd -q -T0 plain.tar -o zstd.tar.zst; "
               "zip -qryX info.zip source; xz -0k plain.tar; "
               "for i in 1 2 3 4; do zstd -qc source/large.txt; done >frames.zst")
    for name in ("plain.tar", "gzip.tgz", "info.zip"):
        side.see(name, (side.folder / name).read_bytes())
    # pigz cuts its input at the same places whatever runs beside it.
    side.see_encoded("deflate", "pigz.tgz", (side.folder / "pigz.tgz").read_bytes())
    for name, script in {
            "tar": "tar -xzf ../gzip.tgz", "pigz": "pigz -dc ../pigz.tgz | tar -x",
            "pigz -p1": "pigz -p1 -dc <../gzip.tgz | tar -x", "zip": "unzip -q ../info.zip",
            "zstd": "tar --zstd -xf ../zstd.tar.zst", "xz": "tar -xf ../plain.tar.xz",
            "frames": "zstd -qdc ../frames.zst >all"}.items():
        target = side.folder / name
        target.mkdir()
        side.shell(script, cwd=target)
        side.see_tree(name, target)
    for check in ("gzip -tv gzip.tgz", "pigz -t pigz.tgz", "unzip -tq info.zip",
                  "zstd -qt frames.zst", "pigz -t info.zip"):
        side.see(check, side.shell(check, status=None).decode())


@scenario("packages", needs=("bash", "dpkg-deb", "tar"), takes=("crc32", "inflate"))
def packages(side):
    """dpkg-deb reads gzip through zlib's gzread() and zstd through libzstd's streams."""
    root = side.folder / "root"
    inputs.tree(root / "usr/share/example", side.seed, 200, 2_000_000 * side.scale)
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN/control").write_text("Package: example\nVersion: 1\nArchitecture: all\n"
                                         "Maintainer: A <a@example.org>\nDescription: example\n")
    side.shell("find root -exec touch -h -d '2020-01-01 00:00' {} +")
    for kind, operation in (("gzip", "deflate"), ("zstd", "zstd"), ("xz", None), ("none", None)):
        package = side.folder / f"{kind}.deb"
        side.run("dpkg-deb", f"-Z{kind}", "-z3", "--root-owner-group", "-b", root, package,
                 env={"SOURCE_DATE_EPOCH": "1577836800"})
        if operation is None:
            side.see(kind, package.read_bytes())
        else:
            side.see_encoded(operation, kind, package.read_bytes())
        side.see(f"{kind} -c", side.run("dpkg-deb", "-c", package))
        side.run("dpkg-deb", "-x", package, side.folder / f"from-{kind}")
        side.see_tree(f"from {kind}", side.folder / f"from-{kind}")
        side.see(f"{kind} --fsys-tarfile", side.run("dpkg-deb", "--fsys-tarfile", package))
