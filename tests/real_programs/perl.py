"""Perl: Compress::Zlib (the system's zlib), Digest, and sort {} (a merge sort of its own)."""

import inputs
from driver import scenario

PROGRAM = r"""
use strict; use warnings;
use Compress::Zlib; use Digest::SHA qw(sha256_hex); use Digest::MD5 qw(md5_hex);
use IO::Uncompress::Gunzip qw(gunzip $GunzipError); use IO::Compress::Gzip qw(gzip $GzipError);
local $/; my %of;
for my $name ("text", "mixed") { open my $file, "<:raw", $name or die; $of{$name} = <$file>; }
for my $name (sort keys %of) {
  my $data = $of{$name};
  print join(" ", $name, crc32($data), adler32($data), sha256_hex($data), md5_hex($data)), "\n";
  my $packed = compress($data, 6);
  print "compress ", (uncompress($packed) eq $data ? "same" : "other"), "\n";
  my $zipped = Compress::Zlib::memGzip($data);
  print "memGzip ", (Compress::Zlib::memGunzip($zipped) eq $data ? "same" : "other"), "\n";
  my ($stream, $out) = (inflateInit(-Bufsize => 8192), "");
  for (my $at = 0; $at < length $packed; $at += 7001) {
    my $part = substr $packed, $at, 7001;
    my ($text, $status) = $stream->inflate($part);
    $out .= $text;
    last if $status == Z_STREAM_END;
    die "inflate: $status" if $status != Z_OK;
  }
  print "inflate ", sha256_hex($out), " ", $stream->total_out(), " ", $stream->adler32(), "\n";
  gzip(\$data, "$name.gz", -Minimal => 1) or die $GzipError;
  gunzip("$name.gz", \my $again) or die $GunzipError;
  print "gunzip ", sha256_hex($again), "\n";
  my $handle = gzopen("$name.gz", "rb");
  my ($lines, $line) = (0, "");
  { local $/ = "\n"; $lines++ while $handle->gzreadline($line) > 0 && $lines < 20000; }
  print "lines $lines ", length $line, "\n";
  my $broken = substr $packed, 0, length($packed) / 2;
  print "broken ", defined uncompress($broken) ? "whole" : "undefined", "\n";
}
my @numbers = map { ($_ * 7919 + 13) % 1000003 } 1 .. 200000;
print sha256_hex(join " ", sort { $a <=> $b } @numbers), "\n";
print sha256_hex(join " ", sort @numbers), "\n";
my @lines = sort { length $a <=> length $b or $a cmp $b } split /\n/, $of{text};
print sha256_hex(join " ", reverse @lines), "\n";
"""


@scenario("perl", needs=("perl",), takes=("crc32", "inflate"))
def perl(side):
    (side.folder / "text").write_bytes(inputs.text(side.seed, 4_000_000 * side.scale))
    (side.folder / "mixed").write_bytes(inputs.mixed(side.seed, 2_000_000 * side.scale))
    side.see("told", side.run("perl", "-e", PROGRAM).decode())
    for name in ("text.gz", "mixed.gz"):
        side.see_encoded("deflate", name, (side.folder / name).read_bytes())
