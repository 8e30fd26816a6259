"""The stub file matches the compiled module."""

from __future__ import annotations

import ast
import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import airpath
from airpath import _airpath

STUB = Path(airpath.__file__).with_name("_airpath.pyi")
TREE = ast.parse(STUB.read_text(encoding="utf-8"))
OF_PARTS = STUB.parent / "parts" / "events.pyi"
"""Stub of the classes for parts in Python."""
BODY = [*TREE.body, *ast.parse(OF_PARTS.read_text(encoding="utf-8")).body]


def public(owner: ModuleType | type) -> set[str]:
    return {name for name in dir(owner) if not name.startswith("_")}


def defined(body: list[ast.stmt]) -> dict[str, ast.FunctionDef | ast.ClassDef]:
    return {node.name: node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def signature(node: ast.FunctionDef) -> list[tuple[str, object]]:
    """Names of the parameters with their defaults, without `self`."""
    arguments = [arg.arg for arg in node.args.args if arg.arg != "self"]
    defaults = [ast.literal_eval(value) for value in node.args.defaults]
    missing = [inspect.Parameter.empty] * (len(arguments) - len(defaults))
    named = [arg.arg for arg in node.args.kwonlyargs]
    of_named = [ast.literal_eval(value) for value in node.args.kw_defaults if value is not None]
    arguments, defaults = arguments + named, [*missing, *defaults, *of_named]
    return list(zip(arguments, defaults, strict=True))


def signature_of_module(function: object) -> list[tuple[str, object]]:
    parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    return [(p.name, p.default) for p in parameters if p.name != "self"]


def test_stub_and_module_have_the_same_names() -> None:
    assert set(defined(BODY)) == public(_airpath)
    exported = next(node for node in TREE.body if isinstance(node, ast.Assign))
    assert set(ast.literal_eval(exported.value)) == public(_airpath)


@pytest.mark.parametrize("name", sorted(public(_airpath)))
def test_stub_and_module_have_the_same_signatures(name: str) -> None:
    node, real = defined(BODY)[name], getattr(_airpath, name)
    if isinstance(node, ast.FunctionDef):
        assert signature(node) == signature_of_module(real)
        return
    members = defined(node.body)
    made = members.pop("__new__", None)
    if isinstance(made, ast.FunctionDef):
        assert signature(made)[1:] == signature_of_module(real)
    assert set(members) == public(real)
    for key, member in members.items():
        assert isinstance(member, ast.FunctionDef)
        decorators = {ast.unparse(decorator) for decorator in member.decorator_list}
        raw = real.__dict__[key]
        assert ("property" in decorators) == inspect.isgetsetdescriptor(raw), key
        assert ("staticmethod" in decorators) == isinstance(raw, staticmethod), key
        if "property" not in decorators:
            assert signature(member) == signature_of_module(getattr(real, key)), key


def test_mypy_finds_no_difference(tmp_path: Path) -> None:
    """The stub is copied into an empty package; otherwise mypy would check all of `airpath`
    first.
    """
    settings = tmp_path / "mypy.ini"
    settings.write_text("[mypy]\n")
    package = tmp_path / "stubs" / "airpath"
    package.mkdir(parents=True)
    (package / "__init__.pyi").touch()
    shutil.copy(STUB, package)
    (package / "parts").mkdir()
    (package / "parts" / "__init__.pyi").touch()
    shutil.copy(OF_PARTS, package / "parts")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy.stubtest",
            "airpath._airpath",
            "--mypy-config-file",
            str(settings),
        ],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(STUB.parents[1]),
            "MYPYPATH": str(package.parent),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
