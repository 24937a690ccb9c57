"""`treebridge parse` as people use it."""

from __future__ import annotations

import io
import json
import lzma
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made import DEV
from typer.testing import CliRunner

from strategies import conllu_blocks
from treebridge import Parser, Treebank, TreebridgeError
from treebridge.cli.commands import app
from treebridge.corpus.conllu import read_conllu
from treebridge.corpus.input import Reading
from treebridge.corpus.sentence import DEPREL, HEAD, UPOS
from treebridge.corpus.trees import tree_problem
from treebridge.parse.confidence import confidences, with_confidence


def command(*arguments: object, stdin: str | None = None) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)), input=stdin, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def trees(conllu: str) -> Treebank:
    return Treebank.read(io.BytesIO(conllu.encode()))


def test_raw_text_lines_and_tokens(home: Path, tmp_path: Path) -> None:
    model = home / "model"
    (tmp_path / "a.txt").write_text("One two\nthree. Four!\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("One, two\n\nthree.\n", encoding="utf-8")
    assert len(trees(command("parse", "--model", model, tmp_path / "a.txt"))) == 2
    by_line = trees(command("parse", "--model", model, "--lines", tmp_path / "b.txt"))
    assert [s.forms for s in by_line] == [("One", ",", "two"), ("three", ".")]
    tokens = trees(command("parse", "--model", model, "--tokens", tmp_path / "b.txt"))
    assert [s.forms for s in tokens] == [("One,", "two"), ("three.",)]
    (tmp_path / "c.xz").write_bytes(lzma.compress(b"One two\n"))
    assert len(trees(command("parse", "--model", model, tmp_path / "c.xz"))) == 1
    piped = command("parse", "--model", model, "--lines", stdin="One, two\n\nthree.\n")
    assert trees(piped)[1].forms == ("three", ".")


@pytest.mark.filterwarnings("ignore:.*no vector")
def test_conllu_keeps_all_but_heads_and_labels(home: Path) -> None:
    """Comments, multi-word tokens, empty nodes, tags and MISC come out as they went in."""
    parser = Parser.load(home / "model")

    @settings(max_examples=30)
    @given(st.lists(conllu_blocks(), min_size=1, max_size=3))
    def check(blocks: list[str]) -> None:
        before = list(read_conllu(io.BytesIO("".join(blocks).encode())))
        after = parser(before)
        for old, new in zip(before, after, strict=True):
            assert new.comments == old.comments and tree_problem(new.heads) is None
            for column in range(10):
                if column not in (HEAD, DEPREL, UPOS):
                    assert new.lines[column] == old.lines[column]
            pairs = zip(old.upos, new.upos, strict=True)
            assert all(a in ("_", b) for a, b in pairs) and "_" not in new.upos

    check()


def test_confidence_is_written_and_read_again(home: Path) -> None:
    parser = Parser.load(home / "model")
    for parsed in parser.parse(DEV[:5]):
        made = with_confidence(parsed)
        found = confidences(made)
        assert [round(float(p), 3) for p in parsed.arcs] == [one.arc for one in found if one]
        assert float(made.comment("tree_score") or 2) == pytest.approx(parsed.score, abs=1e-4)
        again = with_confidence(type(parsed)(made, parsed.arcs, parsed.labels))
        assert again == made  # parsing a parsed file replaces, and adds nothing
        assert made.forms == parsed.sentence.forms and made.heads == parsed.sentence.heads


def test_json_lines(home: Path, text: str) -> None:
    rows = command(
        "parse", "--model", home / "model", "--format", "json", "--confidence", stdin=text
    )
    objects = [json.loads(line) for line in rows.splitlines()]
    same = trees(command("parse", "--model", home / "model", stdin=text))
    assert [o["text"] for o in objects] == [s.text for s in same]
    for made, sentence in zip(objects, same, strict=True):
        assert [w["head"] for w in made["words"]] == list(sentence.heads)
        assert all(0 <= w["arc_probability"] <= 1 for w in made["words"])
        assert 0 <= made["score"] <= 1


def test_pictures(home: Path, text: str, tmp_path: Path) -> None:
    model = home / "model"
    page = command("parse", "--model", model, "--format", "html", stdin=text)
    assert page.count("<figure") == page.count("</svg>") > 5 and page.endswith("</html>\n")
    command("parse", "--model", model, "--format", "svg", "-o", tmp_path / "p", stdin=text)
    assert sorted(p.name for p in (tmp_path / "p").iterdir())[0] == "0001.svg"
    with pytest.raises(TreebridgeError, match="several sentences give several pictures"):
        command("parse", "--model", model, "--format", "svg", stdin=text)
    assert "╼" in command("parse", "--model", model, "--format", "text", stdin=text)


def test_multiword_tokens_come_back_as_ranges(home: Path, tmp_path: Path) -> None:
    model = home / "model"
    out = command("parse", "--model", model, "--language", "pt", stdin="Trata-se do fim.\n")
    assert "1-2\tTrata-se" in out and "3-4\tdo" in out and "\n3\tde\t" in out
    (tmp_path / "t.tsv").write_text("# mine\nwanna\twant to\n", encoding="utf-8")
    out = command("parse", "--model", model, "--mwt", tmp_path / "t.tsv", stdin="I wanna go\n")
    assert "2-3\twanna" in out and "\n3\tto\t" in out
    assert "wanna" in command("parse", "--model", model, "--tokens", stdin="I wanna go\n")
    assert Reading(tokens=True, language="pt").splitter().multiword is None


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("latin.txt", "Ol\xe1\n".encode("latin-1"), r"latin.txt:1: byte 0xe1 is not UTF-8; .* iconv"),
        ("nine.conllu", b"1\tA\ta\tX\t_\t_\t0\troot\t_\n\n", "nine.conllu:1: expected 10 columns, found 9"),
        ("empty.txt", b"", "empty.txt: found no sentences to parse"),
        ("blank.txt", b" \n\n", "blank.txt: found no sentences to parse"),
        ("wide.txt", b"\xff\xfeO\x00", "iconv -f utf-16"),
    ],
)  # fmt: skip
def test_wrong_files(home: Path, tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TreebridgeError, match=message):
        command("parse", "--model", home / "model", tmp_path / name, "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_wrong_models_and_places(home: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One.\n", encoding="utf-8")
    good = ("parse", tmp_path / "a.txt", "--model")
    for model, message in (
        (home / "nowhere", "no such folder"),
        (home, r"no parser in this folder; did you mean"),
        (tmp_path, "treebridge train makes one"),
        (home / "vectors.vec", "found a file"),
        (home / "bridged" / "bridge", "found a bridge"),
    ):
        with pytest.raises(TreebridgeError, match=message):
            command(*good, model)
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(TreebridgeError, match="found an encoder"):
        command(*good, tmp_path / "encoder")
    with pytest.raises(TreebridgeError, match="this is a folder; choose a file"):
        command("parse", tmp_path, "--model", home / "model")
    (tmp_path / "out").write_text("mine")
    with pytest.raises(TreebridgeError, match="this file exists; --force replaces it"):
        command(*good, home / "model", "-o", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"
    command(*good, home / "model", "-o", tmp_path / "out", "--force")
    assert len(Treebank.read(tmp_path / "out")) == 1
    for table, message in (("do de o", "t.tsv:1: expected a written word"), ("", "found no contractions"),
                           ("*x\ty z", "t.tsv:1: .* both columns")):  # fmt: skip
        (tmp_path / "t.tsv").write_text(table)
        with pytest.raises(TreebridgeError, match=message):
            command(*good, home / "model", "--mwt", tmp_path / "t.tsv")


LINE = " ".join(DEV[0].forms).encode() + b"\n"


def start(home: Path, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "treebridge", "parse", "--model", home / "model", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUTF8": "1"},
        # Tests that run in the background inherit that Ctrl-C is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def test_output_starts_before_input_ends_and_ctrl_c_leaves_whole_sentences(home: Path) -> None:
    process = start(home, "--lines", "-")
    assert process.stdin and process.stdout and process.stderr
    process.stdin.write(LINE * 40)  # enough for a first piece
    process.stdin.flush()
    first = process.stdout.readline()  # the input is still open
    assert first == b"# sent_id = 1\n"
    assert process.stdout.readline() == b"# text = " + LINE
    process.stdin.write(LINE * 400)
    process.stdin.flush()
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    rest, errors = process.stdout.read(), process.stderr.read()
    assert process.wait(timeout=60) == 130 and "Traceback" not in errors.decode()
    done = trees((first + rest).decode())
    assert len(done) >= 16 and (first + rest).endswith(b"\n\n")


def test_ctrl_c_keeps_what_is_done_in_a_file(home: Path, tmp_path: Path) -> None:
    process = start(home, "--lines", "-", "-o", str(tmp_path / "out.conllu"))
    assert process.stdin and process.stderr
    process.stdin.write(LINE * 40)
    process.stdin.flush()
    deadline = time.time() + 180
    while not any(p.stat().st_size for p in tmp_path.glob("*.part")) and time.time() < deadline:
        time.sleep(0.1)
    assert not (tmp_path / "out.conllu").exists()  # under its name only when it is done
    time.sleep(0.5)  # it waits for more input now
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "out.conllu has the sentences finished so far" in errors.decode()
    assert len(Treebank.read(tmp_path / "out.conllu")) >= 16


def test_piping_into_head_ends_quietly(home: Path, tmp_path: Path) -> None:
    (tmp_path / "many.txt").write_bytes(LINE * 5000)
    run = (
        f"{sys.executable} -m treebridge parse --lines --model {home / 'model'} many.txt | head -3"
    )
    done = subprocess.run(run, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr == "" and done.stdout.count("\n") == 3
