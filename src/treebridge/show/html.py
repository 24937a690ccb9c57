"""Trees as one self-contained HTML page, for screens, phones and print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from treebridge.corpus.sentence import Sentence
from treebridge.show.svg import DOUBT, clean, draw_svg

_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --line: #8885; }}
h1 {{ font-size: 1.3rem; }}
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 80rem; padding: 1rem; }}
figure {{ margin: 0 0 1.5rem; border: 1px solid var(--line); border-radius: 8px; padding: .75rem; }}
figcaption {{ margin-bottom: .5rem; }}
.scroll {{ overflow-x: auto; }}
.low {{ color: {doubt}; }}
@media print {{ figure {{ break-inside: avoid; }} }}
</style></head><body>
<h1>{title}</h1>
"""
_TAIL = "</body></html>\n"


def html_page(
    sentences: Iterable[Sentence], title: str = "Trees", columns: Sequence[str] = ()
) -> Iterator[str]:
    """The page in parts: head, one part per sentence, and an end that is always written."""
    yield _HEAD.format(title=clean(title), doubt=DOUBT)
    try:
        for number, sentence in enumerate(sentences, 1):
            yield html_figure(sentence, number, columns)
    finally:
        yield _TAIL


def draw_html(sentence: Sentence, *, columns: Sequence[str] = ()) -> str:
    """A page with one tree."""
    return "".join(html_page([sentence], sentence.text, columns))


def html_figure(sentence: Sentence, number: int, columns: Sequence[str] = ()) -> str:
    """A sentence with its tree."""
    name = sentence.comment("sent_id") or str(number)
    return (
        f'<figure id="s{number}"><figcaption dir="auto"><small>{clean(name)}</small> '
        f'{clean(sentence.text)}</figcaption><div class="scroll" tabindex="0">'
        f"{draw_svg(sentence, columns=columns)}</div></figure>\n"
    )
