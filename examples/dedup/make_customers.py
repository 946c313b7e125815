#!/usr/bin/env python3
"""Writes a CSV file of customers that nobody is, one in ten of them a second time with a mistake.

    python3 make_customers.py ROWS FILE.csv [--seed 1]

Columns: id, name, city, and person: rows with the same number are the same person. dedup.py does
not read that column unless it is asked how much it found.
"""

import argparse
import csv
import random
import sys

FIRST = """Ada Adam Agnes Alan Alice Amir Ana Andrea Anna Anton Arthur Asha Beatriz Bela Ben Bruno
Carla Carlos Chen Clara Dana Daniel David Diego Dora Edgar Elena Elias Emil Emma Eva Fatima Felix
Fiona Frank Gabor Grace Greta Hana Hans Hassan Helen Henry Hugo Ida Igor Ingrid Ivan Jan Jana
Jean Johanna John Jonas Jorge Julia Karim Karl Katarina Kofi Lara Lars Laura Lea Leo Lena Lin Lucia
Luis Magda Maria Marie Marko Marta Martin Matteo Maya Mei Mia Michael Mila Mohamed Nadia Nina Noah
Nora Olga Oliver Omar Oscar Otto Paul Pedro Peter Petra Priya Rafael Ravi Rosa Ruth Samir Sara Simon
Sofia Stefan Susan Tariq Thomas Tom Ursula Vera Viktor Yuki Yusuf Zoe""".split()
STARTS = "Al An Bar Ber Bor Bran Cas Cor Dan Del Dor Em Fal Fer Gar Gol Gru Hal Har Hol Jan Kal Kar \
Kel Kor Lam Lan Lin Lor Mal Mar Mer Nel Nor Ol Par Per Pol Ram Ren Ros Sal San Sol Tal Tor Val \
Ven Ver Wal Wei Wol Zel".split()
MIDDLES = "a e i o u an el en er in on ov ti ta ga li lo ra ri do da mo ma ne ni sa so va vi".split()
ENDS = "berg dez er es ez in ini ka man mann mar ner nik o os ova rov s sen ski sky son stein ström \
ton ville wald witz".split()
CITIES = "Accra Berlin Bogota Cairo Delhi Dublin Kyoto Lagos Lima Lisbon Lyon Oslo Porto Prague Quito \
Riga Rome Turin Vienna Zagreb".split()
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def name(rng):
    surname = rng.choice(STARTS) + "".join(rng.choices(MIDDLES, k=rng.randrange(1, 4))) + rng.choice(ENDS)
    return f"{rng.choice(FIRST)} {surname}"


def mistaken(rng, text):
    """As people write a name that is in the list already."""
    kind = rng.randrange(6)
    place = rng.randrange(len(text))
    if kind == 0:
        return text[:place] + text[place + 1 :]
    if kind == 1:
        return text[:place] + rng.choice(LETTERS) + text[place:]
    if kind == 2:
        return text[:place] + rng.choice(LETTERS) + text[place + 1 :]
    if kind == 3:
        return text[:place] + text[place : place + 2][::-1] + text[place + 2 :]
    first, _, surname = text.partition(" ")
    return f"{surname.upper()}, {first}" if kind == 4 else f" {first}  {surname.lower()} "


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", metavar="ROWS", type=int)
    parser.add_argument("file", metavar="FILE.csv")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    people = []
    with open(options.file, "x", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(["id", "name", "city", "person"])
        for number in range(options.rows):
            if people and rng.random() < 0.1:
                person = rng.randrange(len(people))
                text, city = people[person]
                text = mistaken(rng, text)
            else:
                person = len(people)
                text, city = name(rng), rng.choice(CITIES)
                people.append((text, city))
            rows.writerow([number, text, city, person])


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"make_customers: {error}")
