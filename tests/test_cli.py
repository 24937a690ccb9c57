"""The command line as a newcomer meets it."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from conftest import Run
from treebridge import __version__
from treebridge.corpus.artificial import World


def test_help_and_version(run: Run) -> None:
    done = run("--help")
    assert done.returncode == 0 and "inspect" in done.stdout and "demo" in done.stdout
    assert run("--version").stdout == f"treebridge {__version__}\n"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['treebridge', '--help']\n"
        "from treebridge.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'transformers', 'numpy', 'numba', 'scipy', 'spacy', 'regex'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("nine.conllu", b"1\tA\ta\tX\t_\t_\t0\troot\t_\n\n", "nine.conllu:1: expected 10 columns, found 9"),
        ("latin.txt", "Ol\xe1\n".encode("latin-1"), "latin.txt:1: byte 0xe1 is not UTF-8"),
        ("gap.tsv", b"a\tb\nc\n", "gap.tsv:2: no tab between source and target"),
        ("cycle.conllu", b"1\tA\ta\tX\t_\t_\t1\tx\t_\t_\n\n", "cycle.conllu:1: no word has HEAD 0"),
    ],
)  # fmt: skip
def test_errors_are_one_sentence(
    run: Run, tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    done = run("inspect", name)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {message}") and done.stderr.count("\n") == 1
    assert "Traceback" in run("inspect", name, "--debug").stderr


def test_wrong_paths(run: Run, tmp_path: Path) -> None:
    assert run("inspect", "nowhere.conllu").stderr == "error: nowhere.conllu: file not found\n"
    assert "this is a folder" in run("inspect", tmp_path).stderr
    assert "say whether it is treebank, bitext or text" in run("inspect", "-").stderr
    (tmp_path / "not.zip").write_bytes(b"PK\x03\x04 cut")
    assert run("inspect", "not.zip").returncode == 2


def test_inspect_tables_and_json(run: Run, tmp_path: Path) -> None:
    world = World()
    world.treebank("far", 30).write(tmp_path / "t.conllu")
    world.write_bitext(tmp_path / "b.tsv", "far", 30)
    (tmp_path / "raw").write_text("One.\n\nTwo words\n", encoding="utf-8")
    (tmp_path / "x.en").write_text("a b\nc\n", encoding="utf-8")
    (tmp_path / "x.pt").write_text("d e\nf\n", encoding="utf-8")
    done = run("inspect", "t.conllu", "b.tsv", "raw")
    assert done.returncode == 0, done.stderr
    for text in ("t.conllu: treebank", "b.tsv: bitext", "raw: text", "with crossing arcs", "╼"):
        assert text in done.stdout
    rows = [
        json.loads(line)
        for line in run("inspect", "--json", "t.conllu", "b.tsv", "raw").stdout.splitlines()
    ]
    assert [row["kind"] for row in rows] == ["treebank", "bitext", "text"]
    assert rows[0]["sentences"] == rows[0]["projective"] == 30 and rows[1]["pairs"] == 30
    assert rows[2]["lines"] == 3 and rows[2]["blank"] == 1 and rows[2]["words"] == 4
    both = json.loads(run("inspect", "--json", "--parallel", "x.en", "x.pt").stdout)
    assert both["kept"] == 2 and both["target_words"] == 3
    few = json.loads(run("inspect", "--json", "b.tsv", "--pairs", "7").stdout)
    assert few["kept"] == few["pairs"] == 7


def test_problems_are_listed_and_the_rest_is_counted(run: Run, tmp_path: Path) -> None:
    good = World().treebank("source", 2)
    text = good[0].to_conllu() + "1\tbad\n\n" + good[1].to_conllu() + "2\tbad\n\n"
    (tmp_path / "t.conllu").write_text(text, encoding="utf-8")
    done = run("inspect", "--json", "t.conllu")
    assert done.returncode == 2 and done.stderr.endswith("(and 1 more problems)\n")
    figures = json.loads(done.stdout)
    assert figures["sentences"] == 2 and len(figures["problems"]) == 2


def test_kind_is_guessed_from_content(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(World().treebank("source", 1)[0].to_conllu(), encoding="utf-8")
    (tmp_path / "b").write_text("a ||| b\nc ||| d\n", encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.writestr("x.en-pt.en", "a\n")
        archive.writestr("x.en-pt.pt", "b\n")
    rows = [
        json.loads(line)
        for line in run("inspect", "--json", *"a b c.zip".split()).stdout.splitlines()
    ]
    assert [row["kind"] for row in rows] == ["treebank", "bitext", "bitext"]


def test_piping_into_head_ends_quietly(tmp_path: Path) -> None:
    World().treebank("source", 200).write(tmp_path / "t.conllu")
    command = f"{sys.executable} -m treebridge inspect {' t.conllu' * 40} | head -1"
    done = subprocess.run(
        command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


def test_figures_of_real_files_agree_with_grep(run: Run, shared: Path) -> None:
    """What `grep -c` counts and what `inspect` says are the same figures."""

    def count(command: str, path: Path) -> int:
        reader = "xzcat" if path.suffix == ".xz" else "cat"
        script = f"{reader} '{path}' | {command}"
        return int(subprocess.run(script, shell=True, capture_output=True, text=True).stdout)

    files = [
        p for p in sorted((shared / "data").rglob("*")) if p.is_file() and "en-pt" not in p.name
    ]
    small = [path for path in files if path.stat().st_size < 3_000_000]
    assert len(small) > 20
    rows = [json.loads(line) for line in run("inspect", "--json", *small).stdout.splitlines()]
    assert len(rows) == len(small)
    for path, row in zip(small, rows, strict=True):
        assert row["problems"] == []
        if path.suffix == ".conllu":
            assert row["kind"] == "treebank"
            assert row["sentences"] == count("grep -c '^# sent_id'", path)
            assert row["words"] == count(r"grep -cP '^\d+\t'", path)
            assert row["multiword_tokens"] == count(r"grep -cP '^\d+-\d+\t'", path)
            assert row["empty_nodes"] == count(r"grep -cP '^\d+\.\d+\t'", path)
        elif ".tsv" in path.name:
            assert row["kind"] == "bitext" and row["pairs"] == count("grep -c ''", path)
        else:
            assert row["kind"] == "text" and row["lines"] == count("grep -c ''", path)
