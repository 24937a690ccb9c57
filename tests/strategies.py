"""Hypothesis strategies that several tests share."""

from __future__ import annotations

from hypothesis import strategies as st

# Anything that can stand in a cell: no tab, no line end, not empty, nothing that is no text.
cells = st.text(
    st.characters(blacklist_categories=("Cs",), blacklist_characters="\t\n\r\x00"),
    min_size=1,
    max_size=8,
)
# The same in columns where CoNLL-U allows no white space.
names = cells.map(lambda cell: "".join(c for c in cell if c != " " and c.isprintable()) or "_")
upos = st.sampled_from(["NOUN", "VERB", "DET", "ADP", "PUNCT", "_"])


@st.composite
def tree_heads(draw: st.DrawFn, min_size: int = 1, max_size: int = 12) -> list[int]:
    """The heads of a random tree with one root."""
    n = draw(st.integers(min_size, max_size))
    order = draw(st.permutations(range(1, n + 1)))
    heads = [0] * n
    for position, word in enumerate(order[1:], 1):
        heads[word - 1] = order[draw(st.integers(0, position - 1))]
    return heads


@st.composite
def conllu_blocks(draw: st.DrawFn) -> str:
    """A valid sentence with comments, multi-word tokens, empty nodes and any text in its cells."""
    heads: list[int] = draw(tree_heads())
    n = len(heads)
    lines = [f"#{draw(cells)}" for _ in range(draw(st.integers(0, 3)))]
    covered = 0
    for word in range(n + 1):
        if word:
            if word > covered and word < n and draw(st.booleans()):
                covered = draw(st.integers(word + 1, n))
                lines.append("\t".join([f"{word}-{covered}", draw(cells), *["_"] * 7, draw(cells)]))
            head = draw(st.sampled_from([str(heads[word - 1]), "_"]))
            row = [str(word), draw(cells), draw(cells), draw(upos), "_", draw(names), head]
            lines.append("\t".join([*row, draw(names), draw(names), draw(cells)]))
        for index in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
            row = [f"{word}.{index + 1}", draw(cells), *["_"] * 6, draw(names), draw(cells)]
            lines.append("\t".join(row))
    return "\n".join(lines) + "\n\n"
