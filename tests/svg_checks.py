"""What every picture must have: all texts inside the page, and colours for light and for dark ground."""

import pathlib
import re
import sys
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "scripts"))
import picture  # noqa: E402

NAMESPACE = "{http://www.w3.org/2000/svg}"


def declarations(root):
    """Font size and anchor by class, as the style sheet's light part has them."""
    sheet = "".join(style.text or "" for style in root.iter(NAMESPACE + "style"))
    sheet = sheet.split("@media")[0]
    sizes, anchors = {}, {}
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", sheet):
        size = re.search(r"font(?:-size)?:[^;]*?(\d+(?:\.\d+)?)px", body)
        anchor = re.search(r"text-anchor:\s*(\w+)", body)
        for selector in selectors.split(","):
            name = selector.strip().removeprefix("text").removeprefix(".") or "text"
            if size:
                sizes[name] = float(size[1])
            if anchor:
                anchors[name] = anchor[1]
    return sizes, anchors


def box_of(text, left, top, sizes, anchors):
    """Left, right, top and bottom of a text, at most."""
    names = ["text", *text.get("class", "").split()]
    size = float(text.get("font-size") or next(
        (sizes[name] for name in reversed(names) if name in sizes), 12))
    anchor = text.get("text-anchor") or next(
        (anchors[name] for name in reversed(names) if name in anchors), "start")
    width = picture.text_width("".join(text.itertext()), size)
    before = {"start": 0, "middle": width / 2, "end": width}[anchor]
    if turned := re.match(r"translate\((\S+) (\S+)\) rotate\(-90\)", text.get("transform", "")):
        x, y = left + float(turned[1]), top + float(turned[2])
        return x - size, x + size / 3, y - width + before, y + before
    x, y = left + float(text.get("x", 0)), top + float(text.get("y", 0))
    return x - before, x - before + width, y - size, y + size / 3


def texts(element, left=0.0, top=0.0):
    """Every text with where its coordinates begin."""
    for child in element:
        if child.tag == NAMESPACE + "text":
            yield child, left, top
        elif child.tag == NAMESPACE + "svg":
            yield from texts(child, left + float(child.get("x", 0)), top + float(child.get("y", 0)))
        elif child.tag == NAMESPACE + "g":
            yield from texts(child, left, top)


def faults(svg):
    """What a picture lacks; empty when it is whole."""
    root = xml.etree.ElementTree.fromstring(svg)
    _, _, width, height = map(float, root.get("viewBox").split())
    sizes, anchors = declarations(root)
    found = []
    for text, left, top in texts(root):
        x1, x2, y1, y2 = box_of(text, left, top, sizes, anchors)
        if x1 < 0 or y1 < 0 or x2 > width or y2 > height:
            found.append(f"outside of {width:g} x {height:g}: {''.join(text.itertext())!r} "
                         f"({x1:.0f} to {x2:.0f}, {y1:.0f} to {y2:.0f})")
    if "prefers-color-scheme: dark" not in svg:
        found.append("no colours for dark ground")
    return found
