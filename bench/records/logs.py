#!/usr/bin/env python3
"""Logs with a fixed seed: a web server's access log, and an application's log of four templates.

    bench/records/logs.py web|application LINES -o FILE

Addresses and pages of the web log follow skewed distributions; sizes are log-normal."""

import argparse
import datetime
import random

START = datetime.datetime(2024, 3, 1)
SECTIONS = ("img", "api/v1", "static", "blog", "shop")


def addresses(generator):
    return [".".join(str(generator.randint(1, 254)) for _ in range(4)) for _ in range(2000)]


def pages(generator):
    return [f"/{section}/item{generator.randint(1, 9999)}.html" for section in SECTIONS for _ in range(80)]


def skewed(generator, values, rate):
    return values[min(int(generator.expovariate(rate)), len(values) - 1)]


def web(lines, generator):
    clients, paths, time = addresses(generator), pages(generator), START
    agents = [f"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{v}.0.{v * 7}.{v % 13} "
              "Safari/537.36" for v in range(60, 120)]
    for _ in range(lines):
        time += datetime.timedelta(seconds=int(generator.expovariate(2)))
        method = generator.choices(("GET", "POST", "HEAD"), (90, 8, 2))[0]
        status = generator.choices((200, 304, 404, 500), (80, 10, 9, 1))[0]
        yield (f'{generator.choice(clients)} - - [{time:%d/%b/%Y:%H:%M:%S} +0000] '
               f'"{method} {skewed(generator, paths, 0.02)} HTTP/1.1" {status} {int(generator.lognormvariate(8, 1.5))} '
               f'"-" "{skewed(generator, agents, 0.1)}"\n')


def application(lines, generator):
    clients, paths, time = addresses(generator), pages(generator), START
    for _ in range(lines):
        time += datetime.timedelta(milliseconds=int(generator.expovariate(0.01)))
        kind = generator.random()
        if kind < 0.4:
            text = f"INFO auth.Session: user {generator.randint(1, 5000)} logged in from {generator.choice(clients)}"
        elif kind < 0.7:
            text = f"INFO db.Pool: query took {generator.randint(1, 900)} ms, rows={generator.randint(0, 5000)}"
        elif kind < 0.9:
            text = f"DEBUG cache: {generator.choice(('hit', 'miss'))} key={generator.getrandbits(64):016x}"
        else:
            text = (f"WARN http: slow request {generator.choice(paths)} status {generator.choice((200, 500))} "
                    f"duration {5 * generator.random():.3f}s")
        yield f"{time:%Y-%m-%d %H:%M:%S},{time.microsecond // 1000:03d} {text}\n"


KINDS = {"web": web, "application": application}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("lines", type=int)
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    with open(options.output, "w", encoding="ascii") as out:
        out.writelines(KINDS[options.kind](options.lines, random.Random(5)))


if __name__ == "__main__":
    main()
