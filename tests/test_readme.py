"""What the README shows is what runs."""

import re
from pathlib import Path

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_the_examples_print_what_they_say(capsys):
    code = "\n".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL))
    exec(code, {})
    promised = re.findall(r"^# (.*)$", code, re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == promised


def test_the_commands_are_targets_of_the_makefile():
    makefile = (Path(__file__).parent.parent / "Makefile").read_text()
    commands = re.findall(r"^make (\w+)", README, re.MULTILINE)
    assert commands == ["reproduce", "test"]
    assert all(f"\n{command}:" in makefile for command in commands)
