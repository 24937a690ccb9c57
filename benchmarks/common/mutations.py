"""Mutants of a Python file: small changes, one at a time, that a good test should notice.

Not generated, because no test of behaviour could or should see them: docstrings, annotations,
decorators, f-strings, messages (raised errors, progress), `__repr__`, TYPE_CHECKING blocks, default
values in settings classes, and off-by-one changes of integers above 10 (buffer sizes and limits).
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LARGEST = 10  # an integer above it is a size or a limit: one more or less changes nothing
MESSAGES = frozenset({"TreebridgeError", "say", "step", "report", "simplefilter"})
PRINTED = frozenset({"__repr__", "__str__", "_repr_html_"})

OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
OPPOSITE = {"max": "min", "maximum": "minimum", "argmax": "argmin", "any": "all"}
OPPOSITE |= {there: here for here, there in OPPOSITE.items()}
EMPTY = {"int": "0", "float": "0.0", "str": "''", "list": "[]", "dict": "{}", "bool": "False"}


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    file: str
    line: int
    kind: str
    before: str  # the changed lines as they are
    after: str
    function: range | None  # the lines of the function or method; None outside of all
    source: bytes  # the whole file with the change

    @property
    def name(self) -> tuple[str, ...]:
        """What tells it from others even when the lines above it change."""
        return self.file, self.kind, self.before, self.after

    @property
    def is_compiled(self) -> bool:
        """Whether its file has functions that numba compiles."""
        return b"njit" in self.source

    def as_dict(self) -> dict[str, Any]:
        """For people and for JSON."""
        names = ("file", "line", "kind", "before", "after")
        return {name: getattr(self, name) for name in names}


def find_mutants(path: Path, file: str) -> list[Mutant]:
    """All mutants of a file, from top to bottom; `file` is what they call it."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(source)
    functions = _functions(tree)
    finder = _Finder()
    finder.visit(tree)
    mutants = []
    for node, kind, text in finder.found:
        first, last = starts[node.lineno - 1], starts[node.end_lineno or 0]
        start = first + node.col_offset
        stop = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        changed = source[first:start] + text.encode() + source[stop:last]
        before, after = (part.decode().strip() for part in (source[first:last], changed))
        whole = source[:first] + changed + source[last:]
        function = next((lines for lines in functions if node.lineno in lines), None)
        mutants.append(Mutant(file, node.lineno, kind, before, after, function, whole))
    return sorted(mutants, key=lambda mutant: mutant.line)


def _functions(tree: ast.Module | ast.ClassDef) -> list[range]:
    """The lines of functions and methods, decorators included; not of functions within them."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            first = min(part.lineno for part in (node, *node.decorator_list))
            found.append(range(first, (node.end_lineno or first) + 1))
        elif isinstance(node, ast.ClassDef):
            found += _functions(node)
    return found


class _Finder(ast.NodeVisitor):
    """Collects nodes, what is changed about each, and the text that takes its place."""

    def __init__(self) -> None:
        self.found: list[tuple[ast.expr | ast.stmt, str, str]] = []
        self._returned = "None"  # what a function may return instead of its result
        self._names: set[str] = set()  # that the function has given a value so far

    def _instead(self, node: ast.expr, kind: str, new: ast.expr) -> None:
        text = ast.unparse(new)
        if not isinstance(new, ast.Constant | ast.Call | ast.Name):
            text = f"({text})"  # as one operand, whatever stands beside it
        self.found.append((node, kind, text))

    def generic_visit(self, node: ast.AST) -> None:
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns", "decorator_list", "bases"):
                for part in value if isinstance(value, list) else [value]:
                    if isinstance(part, ast.AST):
                        self.visit(part)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in node.body:
            if not (node.name.endswith("Settings") and isinstance(part, ast.AnnAssign)):
                self.visit(part)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in PRINTED:
            return
        outside = self._returned, self._names
        kind = ast.unparse(node.returns).partition("[")[0] if node.returns else ""
        self._returned = EMPTY.get(kind, "None")
        self._names = {arg.arg for arg in (*node.args.args, *node.args.kwonlyargs)}
        self.generic_visit(node)
        self._returned, self._names = outside

    # Statements

    def _drop(self, node: ast.stmt) -> None:
        self.found.append((node, "drop a statement", "pass"))

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call) and not _is_message(node.value):
            self._drop(node)
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        """What would only leave a name without a value is not dropped: any test sees that."""
        names = {
            part.id for t in node.targets for part in ast.walk(t) if isinstance(part, ast.Name)
        }
        places = any(isinstance(t, ast.Attribute | ast.Subscript) for t in node.targets)
        if places or (names and names <= self._names):
            self._drop(node)
        self._names |= names
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._drop(node)
        if type(node.op) in OTHER and not _is_text_or_list(node.value):
            other = ast.AugAssign(node.target, OTHER[type(node.op)](), node.value)
            self.found.append((node, "arithmetic", ast.unparse(other)))
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._drop(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self._drop(node)

    def visit_Break(self, node: ast.Break) -> None:
        self._drop(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        """Tells the type checker something."""

    def visit_Import(self, node: ast.Import) -> None:
        """Needed."""

    visit_ImportFrom = visit_Import

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and ast.unparse(node.value) != self._returned:
            self.found.append((node, "return a constant", f"return {self._returned}"))
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self._negate(node.test)
            self.generic_visit(node)

    # Expressions

    def _negate(self, test: ast.expr) -> None:
        if not isinstance(test, ast.UnaryOp | ast.Compare) or len(getattr(test, "ops", "-")) > 1:
            self._instead(test, "negate a condition", ast.UnaryOp(ast.Not(), test))

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negate(test)
        self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Words for people, nearly always."""

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._instead(node, "True ↔ False", ast.Constant(not value))
        elif isinstance(value, int) and value <= LARGEST:
            self._instead(node, "one more", ast.Constant(value + 1))
            if value:
                self._instead(node, "one less", ast.Constant(value - 1))
        elif isinstance(value, float) and value >= 0.01:
            self._instead(node, "double", ast.Constant(2 * value))

    def visit_Compare(self, node: ast.Compare) -> None:
        for place, op in enumerate(node.ops):
            other = copy.copy(node)
            other.ops = [*node.ops[:place], OTHER[type(op)](), *node.ops[place + 1 :]]  # type: ignore[list-item]
            self._instead(node, "comparison", other)
            if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) and len(node.ops) == 1:
                self._instead(node, "negate a condition", ast.UnaryOp(ast.Not(), node))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in OTHER and not any(map(_is_text_or_list, (node.left, node.right))):
            other = ast.BinOp(node.left, OTHER[type(node.op)](), node.right)
            self._instead(node, "arithmetic", other)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self._instead(node, "and ↔ or", ast.BoolOp(OTHER[type(node.op)](), node.values))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self._instead(node, "without its sign", node.operand)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if _is_message(node):
            return
        if (name := _called(node)) in OPPOSITE:
            func = copy.copy(node.func)
            setattr(func, "id" if isinstance(func, ast.Name) else "attr", OPPOSITE[name])
            self._instead(node, "max ↔ min", ast.Call(func, node.args, node.keywords))
        for keyword in node.keywords:
            if keyword.arg and keyword.arg != "strict":  # zip's says what is the case
                rest = [other for other in node.keywords if other is not keyword]
                self._instead(node, "drop a keyword", ast.Call(node.func, node.args, rest))
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg != "strict":
            self.generic_visit(node)


def _called(call: ast.Call) -> str:
    return str(getattr(call.func, "id", None) or getattr(call.func, "attr", ""))


def _is_message(call: ast.Call) -> bool:
    return _called(call) in MESSAGES


def _is_text_or_list(node: ast.expr) -> bool:
    """Text, a path or a list, which cannot be subtracted or multiplied: any test sees that."""
    text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return text or isinstance(node, ast.JoinedStr | ast.List | ast.ListComp | ast.Tuple)
