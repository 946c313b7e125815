"""Large runtimes: Java's java.util.zip calls the system's zlib; Node.js brings one of its own, and
exports it."""

import inputs
from driver import scenario

JAVA = r"""
import java.io.*;
import java.nio.file.*;
import java.security.MessageDigest;
import java.util.*;
import java.util.zip.*;

class Main {
  static void tell(String name, byte[] data) throws Exception {
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(data);
    System.out.println(name + " " + data.length + " " + HexFormat.of().formatHex(digest));
  }

  static byte[] zipped(byte[] data, int level) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (OutputStream packer = new DeflaterOutputStream(out, new Deflater(level))) {
      packer.write(data);
    }
    return out.toByteArray();
  }

  static void work(byte[] data) throws Exception {
    CRC32 crc = new CRC32();
    crc.update(data);
    Adler32 adler = new Adler32();
    adler.update(data);
    System.out.println(crc.getValue() + " " + adler.getValue());
    byte[] packed = zipped(data, 6);
    tell("stream", new InflaterInputStream(new ByteArrayInputStream(packed)).readAllBytes());
    Inflater inflater = new Inflater();
    byte[] all = new byte[data.length + 100];
    inflater.setInput(packed);
    int size = inflater.inflate(all);
    System.out.println(size + " " + inflater.finished() + " " + inflater.getAdler() + " "
                       + inflater.getTotalIn());
    tell("whole", Arrays.copyOf(all, size));
    inflater.reset();
    inflater.setInput(packed, 0, packed.length / 2);
    int half = inflater.inflate(all, 0, 5000);
    while (!inflater.needsInput()) half += inflater.inflate(all, half, 7777);
    inflater.setInput(packed, packed.length / 2, packed.length - packed.length / 2);
    while (!inflater.finished()) half += inflater.inflate(all, half, all.length - half);
    tell("halves", Arrays.copyOf(all, half));
    packed[packed.length / 3] ^= 0x55;
    try {
      tell("damaged", new InflaterInputStream(new ByteArrayInputStream(packed)).readAllBytes());
    } catch (ZipException | EOFException error) {
      System.out.println("damaged: " + error.getMessage());
    }
  }

  public static void main(String[] names) throws Exception {
    byte[][] contents = new byte[names.length][];
    for (int i = 0; i < names.length; ++i) {
      contents[i] = Files.readAllBytes(Path.of(names[i]));
      work(contents[i]);
    }
    List<Thread> threads = new ArrayList<>();
    List<String> failed = Collections.synchronizedList(new ArrayList<>());
    for (int i = 0; i < 8; ++i) {
      byte[] data = contents[i % contents.length];
      int level = 1 + i % 3;
      threads.add(new Thread(() -> {
        try {
          byte[] packed = zipped(data, level);
          System.gc();
          byte[] back = new InflaterInputStream(new ByteArrayInputStream(packed)).readAllBytes();
          if (!Arrays.equals(back, data)) failed.add("other content");
        } catch (Exception error) {
          failed.add(error.toString());
        }
      }));
    }
    for (Thread thread : threads) thread.start();
    for (Thread thread : threads) thread.join();
    System.out.println(failed);
  }
}
"""

NODE = r"""
const zlib = require("zlib"), crypto = require("crypto"), fs = require("fs");
const hex = data => data.length + " " + crypto.createHash("sha256").update(data).digest("hex");
for (const name of ["text", "mixed"]) {
  const data = fs.readFileSync(name);
  const packed = zlib.deflateSync(data);
  console.log(hex(packed), hex(zlib.inflateSync(packed)));
  console.log(hex(zlib.gunzipSync(zlib.gzipSync(data))));
  for (const kind of ["aes-256-gcm", "aes-128-ctr", "chacha20-poly1305"]) {
    const key = Buffer.alloc(kind[4] === "1" ? 16 : 32, 7);
    const iv = Buffer.alloc(kind.endsWith("ctr") ? 16 : 12, 9);
    const cipher = crypto.createCipheriv(kind, key, iv, {authTagLength: 16});
    console.log(kind, hex(Buffer.concat([cipher.update(data), cipher.final()])));
  }
  zlib.unzip(zlib.gzipSync(data), (error, back) => console.log("asynchronous", error, hex(back)));
}
const numbers = Array.from({length: 200000}, (_, i) => i * 7919 % 1000003);
console.log(hex(Buffer.from(numbers.sort((a, b) => a - b).join(" "))));
"""


def _write_inputs(side):
    (side.folder / "text").write_bytes(inputs.text(side.seed, 2_000_000 * side.scale))
    (side.folder / "mixed").write_bytes(inputs.mixed(side.seed, 1_000_000 * side.scale))


@scenario("java", needs=("java", "javac", "jar"), takes=("crc32", "inflate"), heavy=True)
def java(side):
    _write_inputs(side)
    (side.folder / "Main.java").write_text(JAVA)
    side.run("javac", "-d", "classes", "Main.java")
    side.see("told", side.run("java", "-Xmx1g", "-cp", "classes", "Main", "text", "mixed").decode())
    side.run("jar", "--create", "--file=all.jar", "--date=2020-01-01T00:00:00Z",
             "--main-class=Main", "-C", "classes", ".", "text", "mixed")
    side.see_encoded("deflate", "jar", (side.folder / "all.jar").read_bytes())
    side.see("list", side.run("jar", "--list", "--file=all.jar"))
    (side.folder / "out").mkdir()
    side.run("jar", "--extract", "--file=../all.jar", cwd=side.folder / "out")
    side.see("text", (side.folder / "out/text").read_bytes())
    side.see("from jar", side.run("java", "-Xmx1g", "-jar", "all.jar", "mixed").decode())


@scenario("node", needs=("node",), heavy=True)
def node(side):
    _write_inputs(side)
    side.see("told", sorted(side.run("node", "-e", NODE).decode().splitlines()))
