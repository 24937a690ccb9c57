"""A CoNLL-U file edited in place: saved, undone, and never overwritten by mistake."""

from __future__ import annotations

import gzip
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strategies import conllu_blocks
from treebridge import TreebridgeError
from treebridge.corpus.conllu import read_conllu
from treebridge.corpus.edit.document import Changed, Document
from treebridge.corpus.edit.operations import apply
from treebridge.corpus.edit.sentences import join_sentences, split_sentence

TWO = """\
# text = a b
1\ta\t_\t_\t_\t_\t0\troot\t_\t_
2\tb\t_\t_\t_\t_\t1\tobj\t_\tX=y

# text = c
1\tc\t_\t_\t_\t_\t0\troot\t_\t_

"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "todo.conllu").write_text(TWO)
    return tmp_path / "todo.conllu"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(blocks=st.lists(conllu_blocks(), min_size=1, max_size=4), data=st.data())
def test_sentences_that_are_not_edited_keep_every_byte(
    blocks: list[str], data: st.DataObject, tmp_path: Path
) -> None:
    """Line ends, blank lines, a byte order mark, comments without words, no end of line."""
    path = tmp_path / "x.conllu"
    pieces: list[bytes] = []
    for block in blocks:
        end = data.draw(st.sampled_from(["\n", "\r\n"]))
        extra = data.draw(st.sampled_from(["", end, f"  {end}", f"# only a comment{end}{end}"]))
        pieces.append((block.replace("\n", end) + extra).encode())
    before = data.draw(st.sampled_from([b"", b"\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf \n\n"]))
    content = before + b"".join(pieces)
    path.write_bytes(content)
    document = Document.open(path)
    assert [s.to_conllu() for s in document] == blocks
    number = data.draw(st.integers(0, len(blocks) - 1))
    document.replace(number, 1, [apply(document[number], "note", text="look")])
    start = len(before) + sum(map(len, pieces[:number]))
    stop = start + len(pieces[number])
    saved = path.read_bytes()
    assert saved[:start] == content[:start] and saved.endswith(content[stop:])
    changed = saved[start : len(saved) - len(content) + stop]
    assert (
        changed.replace(b"# note = look\r\n", b"").replace(b"# note = look\n", b"")
        == (pieces[number])
    )
    again = [s for s in read_conllu(path) if len(s)]
    assert again == list(document)
    document.undo()
    assert path.read_bytes() == content == path.with_name("x.conllu.bak").read_bytes()
    document.redo()
    assert path.read_bytes() == saved


def test_a_file_without_a_last_line_end(file: Path) -> None:
    file.write_text(TWO.rstrip("\n"))
    document = Document.open(file)
    document.replace(0, 1, [apply(document[0], "done", done=True)])
    assert file.read_text() == TWO.replace("1\ta", "# status = done\n1\ta").rstrip("\n")
    document.replace(1, 1, [apply(document[1], "done", done=True)])
    assert file.read_text().endswith("# status = done\n1\tc\t_\t_\t_\t_\t0\troot\t_\t_\n\n")


def test_sentences_are_split_joined_and_undone(file: Path) -> None:
    document = Document.open(file)
    document.replace(0, 1, split_sentence(document[0], 2, None))
    assert [s.text for s in document] == ["a", "b", "c"]
    document.replace(1, 2, [join_sentences(document[1], document[2])])
    assert [s.text for s in document] == ["a", "b c"]
    states = [file.read_text()]
    for number, texts in ((1, ["a", "b", "c"]), (0, ["a b", "c"])):
        assert document.undo() == number and [s.text for s in document] == texts
    assert file.read_text() == TWO and not document.can_undo
    with pytest.raises(TreebridgeError, match="nothing to undo"):
        document.undo()
    document.redo(), document.redo()
    assert file.read_text() == states[0] and not document.can_redo
    document.undo()
    document.replace(0, 1, [apply(document[0], "note", text="x")])
    assert not document.can_redo  # a new change ends what could be redone


def test_a_reparse_is_undone_with_the_change_before(file: Path) -> None:
    document = Document.open(file)
    document.replace(0, 1, split_sentence(document[0], 2, None))
    document.amend(1, apply(document[1], "head", word=1, head=0))
    assert document[1].heads == (0,)
    document.undo()
    assert file.read_text() == TWO
    document.redo()
    assert document[1].heads == (0,) and [s.text for s in document] == ["a", "b", "c"]


def test_comments_between_sentences_stay(file: Path) -> None:
    file.write_text(TWO.replace("# text = c", "# chapter two\n\n# text = c"))
    document = Document.open(file)
    assert len(document) == 2
    with pytest.raises(TreebridgeError, match="comments between these sentences"):
        document.replace(0, 2, [join_sentences(document[0], document[1])])


def test_a_file_changed_by_another_program_is_not_overwritten(file: Path) -> None:
    document = Document.open(file)
    other = TWO.replace("X=y", "X=z")
    file.write_text(other)
    edited = apply(document[0], "done", done=True)
    with pytest.raises(Changed, match="another program changed the file; reload it"):
        document.replace(0, 1, [edited])
    assert file.read_text() == other and not document.can_undo
    document.reload()
    assert document[0].to_conllu().endswith("X=z\n\n")
    file.unlink()
    with pytest.raises(TreebridgeError, match="file not found"):
        document.replace(0, 1, [edited])
    file.write_text(other)  # the same content again
    document.replace(0, 1, [edited])
    assert "status = done" in file.read_text()


def test_an_error_while_saving_changes_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = Document.open(file)
    version = document.version

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("treebridge.corpus.edit.document.os.fsync", full)
    with pytest.raises(TreebridgeError, match="disk is full"):
        document.replace(0, 1, [apply(document[0], "done", done=True)])
    assert file.read_text() == TWO and document.version == version and not document.can_undo
    assert "status" not in document[0].to_conllu()
    assert sorted(path.name for path in file.parent.iterdir()) == [file.name, file.name + ".bak"]


def test_permissions_and_links_are_kept(file: Path) -> None:
    file.chmod(0o600)
    link = file.with_name("link.conllu")
    link.symlink_to(file)
    document = Document.open(link)
    document.replace(0, 1, [apply(document[0], "done", done=True)])
    assert link.is_symlink() and "status = done" in file.read_text()
    for path in (file, file.with_name("todo.conllu.bak")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_files_that_cannot_be_edited(file: Path) -> None:
    def refused(message: str, path: Path = file) -> None:
        with pytest.raises(TreebridgeError, match=message) as caught:
            Document.open(path)
        assert caught.value.file == str(path)

    refused("file not found", file.with_name("none"))
    refused("this is a folder", file.parent)
    file.write_bytes(gzip.compress(TWO.encode()))
    refused("compressed; unpack it first")
    file.write_text("\n# nothing\n\n")
    refused("no sentences")
    file.write_text("These are words.\n")
    refused("expected 10 columns")
    file.write_bytes(TWO.encode("utf-16"))
    refused("UTF-16")
    file.write_text(TWO)
    file.chmod(0o444)
    refused("read-only")
    assert not file.with_name("todo.conllu.bak").exists()
