# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of the pages run, and check themselves."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "examples" / "python").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example(path, capsys, monkeypatch, tmp_path):
    for module in ("PIL", "torch", "jax"):
        if re.search(rf"^(import|from) {module}\b", path.read_text(encoding="utf-8"), re.M):
            pytest.importorskip(module)
    monkeypatch.setattr(sys, "argv", [path.name])
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "docs/systems.md"])
def test_first_program_of_a_page_runs_by_itself(page, monkeypatch, tmp_path):
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(re.search(r"```python\n(.*?)```", text, re.S)[1], {})


def test_pictures_go_where_git_ignores_them(capsys, monkeypatch, tmp_path):
    pytest.importorskip("PIL")
    program = Path(__file__).parents[2] / "docs" / "examples" / "python" / "pictures.py"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [program.name])
    folder = runpy.run_path(str(program))["FOLDER"]
    assert folder == program.parents[3] / "build" / "pictures"
    assert not list(tmp_path.iterdir())
    printed = capsys.readouterr().out
    assert str(folder) in printed and all(path.name in printed for path in folder.glob("*.png"))


def test_there_are_examples():
    assert len(EXAMPLES) >= 4


def test_info_program():
    run = subprocess.run([sys.executable, "-m", "tessera", "info"], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("tessera ") and "cpu" in run.stdout
    wrong = subprocess.run([sys.executable, "-m", "tessera"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "usage" in wrong.stderr
