"""A suite of many tiny processes, as tests of command line programs are: what Hoist costs there.

All inputs are too small for an engine, so whatever differs between the runs is the price of being
looked at: a library that is loaded, a build-id that is read, and with --stats a record."""

import gzip

import measure

# $1: rounds; each starts 14 processes of programs that Hoist knows and of others.
SCRIPT = r"""
round=0
while [ $round -lt "$1" ]; do
  sort words | uniq -c | head -n 3
  sort -u -k2 words > sorted || exit
  cksum sorted words
  for sum in md5sum sha1sum sha256sum b2sum; do $sum words || exit; done
  gzip -dc words.gz | tail -n 1
  perl -e 'open(my $in, "-|", "sort", "-n", "words") or die; my @all = <$in>; print $all[0];
           print `sha512sum words`'
  round=$((round + 1))
done
"""
WORDS = "".join(f"{number * 7919 % 1009} word{number % 37}\n" for number in range(60))


def rows(scratch, hoist, rounds):
    def case():
        folder = scratch / "tiny"
        folder.mkdir(exist_ok=True)
        (folder / "words").write_text(WORDS)
        (folder / "words.gz").write_bytes(gzip.compress(WORDS.encode(), mtime=0))
        suite = ["sh", "-c", SCRIPT, "suite", str(rounds)]
        watched = [str(hoist), "run", f"--stats={scratch / 'tiny.json'}", "--", *suite]
        return measure.Case("tiny-processes", f"a script that starts {14 * rounds} tiny programs",
                            suite, cwd=folder, peers={"with --stats": watched})
    yield "tiny-processes", case
