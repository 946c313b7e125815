"""Pieces of the pictures that scripts draw: self-contained SVG for light and for dark ground, and
bounds of how wide texts are, so that nothing is cut off."""

import html

FONT = "system-ui, sans-serif"
# Shares of the font size: at least what DejaVu Sans and Verdana take, the widest common ones.
NARROW = " .,:;'|!()[]{}/\\iIjlftr-"
WIDE = "mwMW@%+=<>~#&"
STYLE = f"""
text {{ font: 13px {FONT}; fill: #24292f }} .page {{ fill: #ffffff }}
.title {{ font-size: 16px; font-weight: 600 }} .strong {{ font-weight: 600 }}
.note {{ font-size: 12px; fill: #57606a }} .middle {{ text-anchor: middle }} .end {{ text-anchor: end }}
.code {{ font-family: ui-monospace, monospace }}
.box {{ fill: #eef4fb; stroke: #7aa2cf; rx: 6px }} .plain {{ fill: #f0f1f3; stroke: #8c959f; rx: 6px }}
.good {{ fill: #e3f4ea; stroke: #5aa87d; rx: 6px }} .warm {{ fill: #fdf1e0; stroke: #cf9a4e; rx: 6px }}
.arrow, .rule {{ fill: none; stroke: #57606a }} .head {{ fill: #57606a }}
.grid {{ fill: none; stroke: #8c959f; stroke-opacity: 0.3 }}
.c0 {{ color: #d55e00 }} .c1 {{ color: #0072b2 }} .c2 {{ color: #00845f }} .c3 {{ color: #6e7781 }}
.curve {{ fill: none; stroke: currentColor; stroke-width: 2.2 }} .fill {{ fill: currentColor }}
.dashed {{ stroke-dasharray: 6 4; stroke-width: 1.8 }}
@media (prefers-color-scheme: dark) {{
  text {{ fill: #e6edf3 }} .page {{ fill: #0d1117 }} .note {{ fill: #9198a1 }}
  .box {{ fill: #16273a; stroke: #3f6ea3 }} .plain {{ fill: #22272e; stroke: #6e7681 }}
  .good {{ fill: #12301f; stroke: #3f9467 }} .warm {{ fill: #35260f; stroke: #a87a34 }}
  .arrow, .rule {{ stroke: #9198a1 }} .head {{ fill: #9198a1 }}
  .c0 {{ color: #ff8a3d }} .c1 {{ color: #58aef0 }} .c2 {{ color: #35c79a }} .c3 {{ color: #9aa4ae }}
}}
"""


def text_width(words, size=13):
    """An upper bound of a text's width in pixels."""
    def share(character):
        if character in NARROW:
            return 0.46
        if character in WIDE or ord(character) > 127:
            return 1
        return 0.8 if character.isupper() else 0.64
    return size * sum(map(share, words))


class Picture:
    """Pieces from the top down; whole() puts a page and the style sheet around them."""

    def __init__(self, width, label):
        self.width, self.label, self.parts = width, label, []

    def add(self, piece):
        self.parts.append(piece)

    def text(self, x, y, words, style=""):
        kind = f' class="{style}"' if style else ""
        self.add(f'<text{kind} x="{x:.1f}" y="{y:.1f}">{html.escape(words)}</text>')

    def rectangle(self, x, y, width, height, style="box"):
        self.add(f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                 f'height="{height:.1f}"/>')

    def box(self, x, y, width, lines, style="box"):
        """A box around lines of text, the first of them strong; returns its lower edge. ValueError
        where a line may be too wide."""
        height = 14 + 19 * len(lines)
        self.rectangle(x, y, width, height, style)
        for i, words in enumerate(lines):
            if text_width(words, 13 if i == 0 else 12) > width:
                raise ValueError(f"too wide for a box of {width:g}: {words}")
            self.text(x + width / 2, y + 21 + 19 * i, words,
                      "middle strong" if i == 0 else "middle note")
        return y + height

    def path(self, data, style):
        self.add(f'<path class="{style}" d="{data}"/>')

    def arrow(self, *points):
        """A line through points, the last step of which is straight; a head at its end."""
        (px, py), (x, y) = points[-2:]
        dx, dy = (x > px) - (x < px), (y > py) - (y < py)
        self.path("M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in points), "arrow")
        self.path(f"M{x:.1f} {y:.1f}l{-8 * dx - 4 * dy} {-8 * dy - 4 * dx}"
                  f"l{8 * dy} {8 * dx}z", "head")

    def whole(self, height):
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {height:.0f}" '
            f'role="img" aria-label="{html.escape(self.label)}">', f"<style>{STYLE}</style>",
            '<rect class="page" width="100%" height="100%" rx="6"/>', *self.parts, "</svg>"]) + "\n"


def legend(picture, left, right, y, entries, column=0):
    """Lines of entries (class, words), each with a stroke before it, at least `column` wide.
    Returns where the next line would be."""
    x = left
    for style, words in entries:
        width = 32 + text_width(words)
        if x > left and x + width > right:
            x, y = left, y + 22
        picture.path(f"M{x:.1f} {y - 4:.1f}h26", style)
        picture.text(x + 32, y, words)
        x += max(width + 20, column)
    return y + 22


def show_or_check(path, drawn, root, command, check):
    """Writes the picture, or says that the file is not today's; an exit status."""
    if not check:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(drawn, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != drawn:
        print(f"{path.relative_to(root)} is not today's: run {command}")
        return 1
    return 0
