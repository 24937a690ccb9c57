"""README and docs show what really happens: every code block is run, or at least parsed.

- `python` blocks are run and must print what the next block shows. Where that takes hours or data,
  `<!-- compiled only: why -->` precedes the block: its imports are run and the rest is compiled.
- `pycon` blocks are doctests; the blocks of a page share their names and a folder of artificial data.
- `bash` blocks contain commands only, without prompts, so that they can be copied. The command line
  parses each `treebridge …`, so that removed options and invalid values fail; inline code likewise.
  After `<!-- run -->` they are run with the shipped model and must print what the next block shows.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import io
import json
import re
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
from typer.testing import CliRunner

from treebridge.cli.commands import app
from treebridge.experiment.ablation import GROUPS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = typer.main.get_command(app)
BENCHMARKS = {"--fast-align", "--scaling", "--rows", "--order"}  # options of benchmark scripts
OLD = {"--source", "--target", "--engine"}  # old names, mentioned in the changelog
OURS = re.compile(r"(treebridge|python -m treebridge)(?: |$)")


class Block(NamedTuple):
    """A fenced block: its place, language and text, and the line above it."""

    page: Path
    line: int
    language: str
    text: str
    above: str

    @property
    def place(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    opened: tuple[int, str] | None = None
    above, inside = "", []
    for number, line in enumerate(page.read_text("utf-8").split("\n"), 1):
        if line.startswith("```") and opened is None:
            opened, inside = (number, line[3:].strip()), []
        elif line.startswith("```") and opened is not None:
            yield Block(page, *opened, "".join(f"{line}\n" for line in inside), above)
            opened, above = None, ""
        elif opened is not None:
            inside.append(line)
        elif line.strip():
            above = line
    assert opened is None, f"{page.name}:{opened and opened[0]}: unclosed block"


BLOCKS = [block for page in PAGES for block in blocks(page)]
KNOWN = {"python", "pycon", "bash", "json", "tsv", "conllu", "text", ""}


def test_every_block_has_a_tested_language() -> None:
    assert {block.language for block in BLOCKS} <= KNOWN
    assert {"python", "pycon", "bash"} <= {block.language for block in BLOCKS}


def test_commands_can_be_copied() -> None:
    prompts = [b.place for b in BLOCKS if re.search(r"^\$ ", b.text, re.MULTILINE)]
    assert not prompts, "write commands without $, and output in a block of its own"
    loose = [b.place for b in BLOCKS if b.language == "" and OURS.match(b.text)]
    assert not loose, "commands belong into blocks called bash"


# Python


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files named in the pages, made from artificial languages.

    The parser `en`, the bridge `en-pt` and their combination `pt` have random weights.
    """
    import numpy as np
    import torch
    from made import QUICK, make_vectors

    from treebridge import Bridge, Parser
    from treebridge.bridge.isotropy import Isotropy
    from treebridge.bridge.space import Space
    from treebridge.corpus.artificial import World
    from treebridge.parse.biaffine import Biaffine
    from treebridge.parse.vocab import Names

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path / "cache"))
    world = World()
    english, portuguese = world.treebank("source", 30), world.treebank("near", 30)
    english.write("en.conllu")
    portuguese.write("gold.conllu")
    world.write_bitext("en-pt.tsv", "near", 200)
    source = make_vectors(tmp_path / "en.vec", english)
    target = make_vectors(tmp_path / "pt.vec", portuguese)
    vectors = np.concatenate([item.vectors for item in source.encode(s.forms for s in english)])
    space = Space.of(source, Isotropy.fit(vectors))
    labels = Names.collect(label for tree in english for label in tree.deprels)
    tags = Names.collect(tag for tree in english for tag in tree.upos)
    torch.manual_seed(0)
    model = Biaffine(QUICK, source.dim, len(labels), len(tags))
    parser = Parser(model, space, labels, tags, encoder=source)
    parser.save("en")
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(source.dim, source.dim)))[0]
    quality = {"verdict": "good: 80.0 % of held-out words found"}
    bridge = Bridge(Space.of(target), space, turn, {"target_language": "pt"}, quality)
    bridge.save("en-pt")
    parser.across(bridge, target).save("pt")
    return tmp_path


def python_blocks(*, run: bool) -> list[Any]:
    chosen = [b for b in BLOCKS if b.language == "python"]
    wanted = [b for b in chosen if run != b.above.startswith("<!-- compiled only: ")]
    return [pytest.param(block, id=block.place) for block in wanted]


@pytest.mark.parametrize("block", python_blocks(run=True))
def test_python_prints_what_is_shown(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "import spacy" in block.text:
        pytest.importorskip("spacy", reason="needs the extra text")
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * block.line + block.text, str(block.page), "exec"), {})
    if printed.getvalue():
        assert_shown(printed.getvalue(), block)


def assert_shown(printed: str, block: Block) -> None:
    """Compare with the next block, up to its … if it has one; probabilities vary between machines."""
    after = BLOCKS[BLOCKS.index(block) + 1]
    assert after.page == block.page and after.language == "", f"{block.place}: no output shown"
    shown, dots, _ = after.text.partition("…")
    plain, expected = (
        re.sub(r" *\d+%| *\?$|0\.\d+", "", t.strip(), flags=re.M) for t in (printed, shown)
    )
    assert plain.startswith(expected) if dots else plain == expected


@pytest.mark.parametrize("block", python_blocks(run=False))
def test_python_that_takes_long_is_compiled(block: Block) -> None:
    tree = ast.parse(block.text, block.place)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names: dict[str, Any] = {}
    exec(compile(ast.Module(imports, []), block.place, "exec"), names)
    for node in ast.walk(tree):  # Parser.train must exist
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = names.get(node.value.id)
            assert owner is None or hasattr(owner, node.attr), f"{block.place}: {ast.unparse(node)}"


@pytest.mark.parametrize("page", [page.name for page in PAGES if "```pycon" in page.read_text()])
def test_sessions_are_doctests(page: str, place: Path) -> None:
    lines: list[str] = []
    for block in BLOCKS:
        if block.page.name == page and block.language == "pycon":
            lines += [""] * (block.line - len(lines)) + block.text.split("\n")[:-1]
    test = doctest.DocTestParser().get_doctest("\n".join(lines) + "\n", {}, page, page, 0)
    assert test.examples
    heard = io.StringIO()
    failed, _ = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=heard.write)
    assert not failed, heard.getvalue()


SOURCES = [
    ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
    for path in sorted((ROOT / "src").rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]


@pytest.mark.parametrize("module", SOURCES)
def test_docstrings_are_doctests(module: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert tried and not failed


# The command line


def understand(arguments: list[str]) -> None:
    """Let the command line parse the arguments without running the command; errors are raised."""
    command: Any = COMMAND
    arguments = [word for word in arguments if word not in ("--debug", "--quiet", "-q")]
    while hasattr(command, "commands"):
        assert arguments and arguments[0] in command.commands, f"no command {arguments[:1]}"
        command, arguments = command.commands[arguments[0]], arguments[1:]
    with command.make_context(command.name, arguments):
        pass


def command_lines(text: str) -> Iterator[str]:
    """The `treebridge …` lines of a block, with lines joined at a trailing backslash."""
    for line in text.replace("\\\n", " ").split("\n"):
        if found := OURS.match(line):
            yield line[found.end(1) :].strip()


def check(line: str) -> None:
    words = shlex.split(line, comments=True)
    for stop in ("|", ">", "<", "&&"):
        if stop in words:
            words = words[: words.index(stop)]
    if words in (["--help"], ["--version"]):
        return
    if "…" in words:  # options are left out
        words = [word for word in words if word != "…"]
        with contextlib.suppress(_missing()):
            understand(words)
        return
    understand(words)


def _missing() -> type[Exception]:
    """The exception that the command line raises for a missing required option."""
    try:
        understand(["train"])
    except Exception as error:
        return type(error)
    raise AssertionError("`treebridge train` needs a treebank")


CONSOLE = [
    pytest.param(line, id=f"{block.place} {line}")
    for block in BLOCKS
    if block.language in ("bash", "")
    for line in command_lines(block.text)
]


@pytest.mark.parametrize("line", CONSOLE)
def test_command_lines_are_understood(line: str) -> None:
    check(line)


RUN = [block for block in BLOCKS if block.above == "<!-- run -->"]


@pytest.mark.parametrize("block", RUN, ids=lambda block: block.place)
def test_commands_print_what_is_shown(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for text in (b for b in BLOCKS if b.page == block.page and b.language == "text"):
        Path("notas.txt").write_text(text.text, "utf-8")
    printed = ""
    for line in command_lines(block.text):
        result = CliRunner().invoke(app, shlex.split(line))
        assert result.exit_code == 0, result.output
        printed += result.stdout
    assert_shown(printed, block)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("parse --model pt --no-such", "--no-such"),
        ("parse … --no-such", "--no-such"),
        ("align a --aligner none", "none"),
        ("train a", "encoder"),
        ("nothing", "no command"),
    ],
)
def test_invalid_command_lines_fail(line: str, message: str) -> None:
    with pytest.raises(Exception, match=message) as raised:
        check(line)
    assert raised.type is AssertionError or raised.type.__name__ in (
        "NoSuchOption", "BadParameter", "MissingParameter",
    )  # fmt: skip


def options(command: Any = COMMAND) -> Iterator[str]:
    for param in command.params:
        yield from (*param.opts, *param.secondary_opts)
    for below in getattr(command, "commands", {}).values():
        yield from options(below)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_inline_code_names_existing_options(page: Path) -> None:
    text = re.sub(r"(?ms)^```.*?^```$", "\n", page.read_text("utf-8"))
    known = {*options(), *OLD, "--help", "--version", *BENCHMARKS}
    for paragraph in text.split("\n\n"):
        for code in re.findall(r"`([^`]+)`", paragraph.replace("\n", " ")):
            if code.startswith("--"):
                assert code.split()[0].split("=")[0] in known, code
            elif re.match(r"treebridge [a-z]", code):
                words = code.replace("[", "").replace("]", "").split()[1:]
                if words[-1].startswith("--"):  # an option without its value
                    assert words.pop() in known, code
                check(" ".join([*words, "…"]))


def test_requests_are_understood_by_the_server() -> None:
    schema = pytest.importorskip("treebridge.web.schema", reason="needs the extra web")
    sent = [
        body
        for block in BLOCKS
        for body in re.findall(r"^curl .* -d '(.*)'", block.text, re.MULTILINE)
    ]
    assert sent
    for body in sent:
        schema.ParseRequest(**json.loads(body))


# The site


def test_the_reference_of_commands_is_up_to_date() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "commands.py"))["page"]()
    stands = (ROOT / "docs" / "commands.md").read_text("utf-8")
    assert made == stands, "run: python docs/commands.py"
    told = stands.partition("Groups: ")[2].partition(". ")[0]
    assert set(re.split(r",\s+", told)) == set(GROUPS)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site make them."""
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text("utf-8"))
    titles = [re.sub(r"[^\w\s-]", "", t.lower()).strip() for t in re.findall(r"(?m)^#+ (.*)", text)]
    return {re.sub(r"\s", "-", title) for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", page.read_text("utf-8")):
        target = page.parent / link if link else page
        assert target.exists(), f"{page.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {link}#{anchor}"


def test_the_readme_is_short() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 130
    assert len(text.split()) <= 900


def test_the_site_is_built_and_fetches_nothing(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="needs the extra docs")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path), strict=True)
    build(config)
    pages = list(tmp_path.glob("*.html"))
    assert len(pages) >= 14
    for page in pages:
        found = re.findall(
            r"<(?:script|img|link|iframe)[^>]*(?:src|href)=\"?(https?://[^\s\">]+)",
            page.read_text("utf-8"),
        )
        assert not found, f"{page.name}: {found}"
