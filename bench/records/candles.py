#!/usr/bin/env python3
"""A stream of price candles with a fixed seed, and the entropy of its source.

    bench/records/candles.py ROWS --format jsonl -o candles.jsonl [--symbols 10] [--json]

A row has six fields: symbol, timestamp, open, close, volume, granularity. Prices walk: log returns are normal, with
ties (close = open) and gaps (open differs from the last close by some ticks). Minutes are missing now and then. Volumes
are log-normal with eight decimals. Symbols take turns.

The entropy is that of the source, which knows the distributions: what an ideal coder with this program as its model
would need. Prices: of a normal variable rounded to the tick, at the mean price; volumes: of a log-normal variable
rounded to 1e-8; the rest: of the choices themselves."""

import argparse
import json
import math
import random
import sys

NAMES = ("BTC", "ETH", "SOL", "XRP", "DOGE", "ADA", "AVAX", "DOT", "MATIC", "LINK")
FIRST_PRICE = 117391.31
FIRST_TIME = 1755392220
STEP = 60
VOLATILITY = 4e-4  # of a minute's log return
TIE = 0.02  # close = open
GAP = 0.10  # open is up to MAX_GAP ticks away from the last close
MAX_GAP = 20
MISSING = 0.001  # a minute without a candle
VOLUME_MEAN, VOLUME_SIGMA = math.log(0.6), 1.0


def rows(count, symbols, seed):
    """(symbol, timestamp, open, close in cents, volume in 1e-8)."""
    generator = random.Random(seed)
    prices = [FIRST_PRICE / 1.8**s for s in range(symbols)]
    last = [round(price * 100) for price in prices]
    time = FIRST_TIME
    for i in range(count):
        s = i % symbols
        if s == 0 and i > 0:
            time += STEP
            while generator.random() < MISSING:
                time += STEP
        start = last[s]
        if generator.random() < GAP:
            start = max(1, start + generator.randint(-MAX_GAP, MAX_GAP))
        end = start
        if generator.random() >= TIE:
            end = max(1, round(start * math.exp(generator.gauss(0, VOLATILITY))))
        volume = round(math.exp(generator.gauss(VOLUME_MEAN, VOLUME_SIGMA)) * 1e8)
        last[s] = end
        yield NAMES[s] + "-USD", time, start, end, volume


def bits_of_choice(*shares):
    return -sum(share * math.log2(share) for share in shares if share > 0)


def normal_bits(sigma):
    """Of a normal variable of this deviation, rounded to whole numbers (nearly exact from 1 on; below, summed)."""
    if sigma > 20:
        return math.log2(sigma * math.sqrt(2 * math.pi * math.e))
    def cumulative(x):
        return 0.5 * (1 + math.erf(x / sigma / math.sqrt(2)))
    return bits_of_choice(*(cumulative(k + 0.5) - cumulative(k - 0.5) for k in range(-200, 201)))


class Entropy:
    """Adds up what each row tells an ideal coder."""

    def __init__(self, symbols):
        self.symbols, self.bits, self.rows = symbols, 0.0, 0
        self.gap = bits_of_choice(GAP, 1 - GAP) + GAP * math.log2(2 * MAX_GAP + 1)
        self.tie = bits_of_choice(TIE, 1 - TIE)
        # The number of missing minutes is geometric.
        self.time = bits_of_choice(MISSING, 1 - MISSING) / (1 - MISSING)
        # log2 of the density's scale at 1e-8: h(log-normal) = mean / ln 2 + h(normal).
        self.volume = VOLUME_MEAN / math.log(2) + math.log2(VOLUME_SIGMA * math.sqrt(2 * math.pi * math.e)) + 8 * math.log2(10)
        self.prices = {}

    def add(self, start):
        level = round(math.log(max(start, 1)), 2)
        if level not in self.prices:
            self.prices[level] = normal_bits(max(math.exp(level) * VOLATILITY, 1e-9))
        self.bits += self.gap + self.tie + (1 - TIE) * self.prices[level] + self.volume
        if self.rows % self.symbols == 0:
            self.bits += self.time
        self.rows += 1


def line(form, symbol, time, start, end, volume):
    start, end, volume = (f"{start // 100}.{start % 100:02d}", f"{end // 100}.{end % 100:02d}",
                          f"{volume // 10**8}.{volume % 10**8:08d}")
    if form == "csv":
        return f"{symbol},{time},{start},{end},{volume},{STEP}\n"
    if form == "pairs":
        return (f"symbol>>{symbol} timestamp>>{time} open>>{start} close>>{end} volume>>{volume} granularity>>{STEP}\n")
    return json.dumps({"symbol": symbol, "timestamp": time, "open": start, "close": end, "volume": volume,
                       "granularity": STEP}) + "\n"


def write(out, count, form="jsonl", symbols=1, seed=1):
    """Writes the text; the entropy of the source, in bytes."""
    entropy = Entropy(symbols)
    if form == "csv":
        out.write("symbol,timestamp,open,close,volume,granularity\n")
    for row in rows(count, symbols, seed):
        entropy.add(row[2])
        out.write(line(form, *row))
    return entropy.bits / 8


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("rows", type=int)
    parser.add_argument("--format", choices=("jsonl", "csv", "pairs"), default="jsonl")
    parser.add_argument("--symbols", type=int, default=1, choices=range(1, len(NAMES) + 1), metavar="1..10")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    with open(options.output, "w", encoding="ascii") as out:
        entropy = write(out, options.rows, options.format, options.symbols, options.seed)
        size = out.tell()
    print(f"{options.output}: {options.rows} rows, {size} bytes; entropy of the source {entropy:.0f} bytes "
          f"({size / entropy:.2f} to 1)", file=sys.stderr)


if __name__ == "__main__":
    main()
