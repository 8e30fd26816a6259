"""The word lint: the parts of a file that it reads, and its report."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check-words"
TABLE = "\\btold\\b\tnotified\n\\bbut for\\b\texcept\n\\bhears\\b\treceives\tcarrier sense\n"


@pytest.fixture(name="lint")
def _lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the script as a module that reads the files of an empty directory."""
    loader = SourceFileLoader("check_words", str(SCRIPT))
    spec = spec_from_loader("check_words", loader)
    assert spec is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "check_words", module)
    loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    (tmp_path / "scripts").mkdir()
    (tmp_path / module.FORBIDDEN).write_text(TABLE)
    monkeypatch.setattr(
        module, "committed_files", lambda _: sorted(path.name for path in tmp_path.glob("*.*"))
    )
    return module


@pytest.mark.parametrize(
    ("name", "source", "lines"),
    [
        ("a.rs", "// It is told.\nlet told = 1;\n", [1]),
        ("a.rs", "/// All\n/// but\n/// for one.\nfn f() {}\n", [2]),
        ("a.rs", 'const NAME: &str = r#"told"#;\n', [1]),
        ("a.rs", "let quote = '\"'; // told\n", [1]),
        ("a.rs", 'f("but", "for");\n', []),
        (
            "a.rs",
            "fn sender_is_told() {}\npub struct ToldSender {\n    pub told: u32,\n}\n",
            [1, 2, 3],
        ),
        ("a.rs", "fn what_is_rejected() {}\n", [1]),
        ("a.rs", "/// When.\nwhen: u64,\n/// Two words.\n", [1]),
        ("a.py", 'x = told("All but "\n         "for")\n', [1]),
        ("a.py", 'def test_who_is_rejected():\n    """It."""\n', [1, 2]),
        ("a.md", "The sender is told `told`.\n", [1]),
        ("a.toml", "told = 1 # told\n", [1]),
        ("a.rs.in", "// told\n", [1]),
        ("a.md", "Carrier sense: a station hears.\nIt hears.\n", [2]),
    ],
)
def test_hits_are_in_prose_and_names_only(
    lint: ModuleType, tmp_path: Path, name: str, source: str, lines: list[int]
) -> None:
    (tmp_path / name).write_text(source)
    assert [hit.line for hit in lint.all_hits([]).get(name, [])] == lines


def test_hit_is_printed_with_its_sentence(
    lint: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.md").write_text("The sender is notified.\n")
    assert lint.main([]) == 0
    (tmp_path / "a.md").write_text("One line.\nThe sender is told.\n")
    assert lint.main([]) == 1
    assert capsys.readouterr().out == "a.md:2: told (notified): The sender is told\n"


def test_unknown_option_is_rejected(lint: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint.main(["--all"]) == 2
    assert capsys.readouterr().err == "check-words: --all: unknown option.\n"
