"""loretoken_converter and saiql_delta: what goes in comes back."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from loretoken_converter import DBMode, LoreTokenConverter
from saiql_delta.core.loretoken_symbolic import SymbolicLoreToken

from hoist import records

GLYPHS = [*LoreTokenConverter.SYMBOL_MAP.values(), "⚠", "ℹ", "#⃣"]
KEYS = st.one_of(
    st.sampled_from([*LoreTokenConverter.SYMBOL_MAP, *GLYPHS, "__init", "", "\\", "a"]),
    st.text("a_\\>🔑⏱", max_size=5),
)
WORDS = st.one_of(
    st.text(max_size=5), st.tuples(KEYS, st.text(max_size=4)).map(lambda pair: ">>".join(pair))
)
LINES = st.lists(st.tuples(WORDS, st.sampled_from([" ", "  ", "\t", "\u00a0"]))).map(
    lambda pairs: "".join(word + space for word, space in pairs)
)

RECORD = {
    "symbol": "BTC-USD",
    "timestamp": 1755392220,
    "open": "117391.31",
    "close": "117370.38",
    "volume": "0.60979011",
    "granularity": "60",
}


def test_the_line_of_the_converter():
    line = "sensor_id>>A17 timestamp>>1755392220 temp_c>>41.2 humidity>>0.31 status>>ACTIVE"
    symbolic = LoreTokenConverter.convert_line(line, target_format=DBMode.LTS)
    assert symbolic == "sensor_id>>A17 ⏱>>1755392220 temp_c>>41.2 humidity>>0.31 📊>>ACTIVE\n"
    assert LoreTokenConverter.convert_line(symbolic) == line + "\n"
    ultra = LoreTokenConverter.convert_line(symbolic, DBMode.LTU)
    assert ultra.startswith("__sensor_id>>A17 __timestamp>>") and ultra.endswith("__status>>ACTIVE\n")
    assert LoreTokenConverter.convert_line(ultra, DBMode.LTS) == symbolic


@given(LINES)
@example("name>>John  Smith name>>again lone\tid>>7 \\🔑>>x 🔑>>y __init>>1")
@example("a>>1\n b>>2\r\n")
def test_lines_come_back(line):
    convert = LoreTokenConverter.convert_line
    if LoreTokenConverter.detect_format(line) is None:
        assert convert(line, DBMode.LTS) == line
        return
    whole = line if line.endswith("\n") else line + "\n"
    assert convert(line, DBMode.LT, DBMode.LT) == whole
    for form in (DBMode.LTS, DBMode.LTU):
        there = convert(line, form, DBMode.LT)
        assert convert(there, DBMode.LT, form) == whole
        other = DBMode.LTU if form is DBMode.LTS else DBMode.LTS
        assert convert(convert(there, other, form), DBMode.LT, other) == whole


def test_what_lines_look_like():
    detect = LoreTokenConverter.detect_format
    assert detect("a>>1") is DBMode.LT and detect("a 🔑 b") is None
    assert detect("a>>🔑") is DBMode.LT and detect("🔑>>1") is DBMode.LTS
    assert detect("__a>>1 __b>>2") is DBMode.LTU and detect("__a>>1 b>>2") is DBMode.LT
    with pytest.raises(ValueError, match="begins with __"):
        LoreTokenConverter.convert_line("a>>1", DBMode.LT, DBMode.LTU)


def test_the_record():
    payload = SymbolicLoreToken.encode("RECORD", "RAW_PRICES", RECORD, "ACTIVE")
    assert payload == (
        "⟆⟐.RAW_PRICES:[§₿»⏱68a128dc»↗117391.31»↘117370.38»▣0.60979011»⌘60,✓]"
    )
    assert SymbolicLoreToken.decode(payload) == ("RECORD", "RAW_PRICES", RECORD, "ACTIVE")


def test_files_of_records_have_its_columns(tmp_path):
    made = [{**RECORD, "timestamp": 1755392220 + 60 * i, "note": "a, b"} for i in range(300)]
    lines = [SymbolicLoreToken.encode("RECORD", "RAW", record) for record in made]
    records.encode(lines, tmp_path / "x.hrec")
    opened = records.open(tmp_path / "x.hrec")
    assert opened.columns(["⏱"])["⏱"].tolist() == [record["timestamp"] for record in made]
    assert opened.columns(["↗"])["↗"].tolist() == [117391.31] * 300
    decoded = [SymbolicLoreToken.decode(line) for line in opened.text().decode().splitlines()]
    assert [record for _, _, record, _ in decoded] == made


TEXT = st.one_of(
    st.text(max_size=8),
    st.text("\\»,[]⟆:.=\"\n\r§⏱✓₿nd>;()&", max_size=6),
    st.sampled_from(["₿", "BTC-USD", "68a128dc", "1755392220", "=1", "\ud800", "ACTIVE", "✓"]),
)
JSON = st.recursive(
    st.one_of(
        TEXT, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False),
        st.integers(-5, 2**32 + 5),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
FIELDS = st.one_of(st.sampled_from([*SymbolicLoreToken.FIELDS]), TEXT)


def same(left, right):
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return repr(left) == repr(right)


@given(
    st.one_of(st.sampled_from([*SymbolicLoreToken.TYPES, "⟐", "A.B:C"]), TEXT),
    TEXT,
    st.dictionaries(FIELDS, JSON, max_size=5),
    st.one_of(st.sampled_from([*SymbolicLoreToken.STATUSES]), TEXT),
)
def test_records_come_back(type_, subtype, record, status):
    text = SymbolicLoreToken.encode(type_, subtype, record, status)
    assert "\n" not in text and "\r" not in text
    for written in (text, text + "\n"):
        got = SymbolicLoreToken.decode(written)
        assert same(list(got), [type_, subtype, record, status])


def test_fields_may_be_added(monkeypatch):
    monkeypatch.setattr(SymbolicLoreToken, "FIELDS", {**SymbolicLoreToken.FIELDS, "range": "L"})
    record = {"range": "1", "L": 2, "Long": [1.5]}
    text = SymbolicLoreToken.encode("META", "X", record)
    assert text == '⟆◊.X:[L1»\\"L:=2»\\"Long:=\\(1.5\\),✓]'
    assert SymbolicLoreToken.decode(text)[2] == record
    for glyph in ("L", "L2", "§", "", "a:b", "»"):
        monkeypatch.setitem(SymbolicLoreToken.FIELDS, "new", glyph)
        with pytest.raises(ValueError):
            SymbolicLoreToken.encode("META", "X", record)


@pytest.mark.parametrize(
    "text",
    ["", "⟆", "⟆⟐.RAW:[]", "⟆⟐.RAW:[§a", "⟆⟐.RAW:[a,✓]", "⟆⟐.RAW:[§a»§b,✓]", "⟆⟐.RAW:[§\\x,✓]",
     "⟆⟐.RAW:[§\\,✓]", "⟆⟐.RAW:[§={,✓]", "⟆⟐.RAW:[§a,✓]x", "⟆⟐.RAW:[§a\n,✓]", "x⟆⟐.RAW:[,✓]"],
)  # fmt: skip
def test_what_is_no_line(text):
    with pytest.raises(ValueError):
        SymbolicLoreToken.decode(text)


@pytest.mark.parametrize("value", [b"x", (1, 2), {1: 2}, object(), [{1}]])
def test_what_is_no_value(value):
    with pytest.raises(TypeError):
        SymbolicLoreToken.encode("RECORD", "X", {"a": value})


def test_times_of_other_writers_are_not_confused():
    line = "⟆⟐.RAW:[§₿»⏱1755392220»▣0.6098»⌘1m,✓]"
    record = {"symbol": "BTC-USD", "timestamp": "1755392220", "volume": "0.6098", "granularity": "1m"}
    assert SymbolicLoreToken.decode(line) == ("RECORD", "RAW", record, "ACTIVE")
