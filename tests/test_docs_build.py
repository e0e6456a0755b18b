"""The documentation is built without a warning; ``make docs`` also runs the gallery anew."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.docs_build

ROOT = Path(__file__).parent.parent
MADE = shutil.ignore_patterns("_build", "api", "gallery")


def test_there_is_no_warning_and_no_link_that_leads_nowhere(tmp_path):
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=MADE)
    for path in ROOT.iterdir():  # what pages include, and link to
        if path.name != "docs" and not path.name.startswith("."):
            (tmp_path / path.name).symlink_to(path)
    _put_picture(tmp_path / "docs/gallery/proofs/images/sphx_glr_every_constraint_001.png")
    strict = ["-q", "-W", "--keep-going", "-n"]
    # Without running the gallery, which other tests do.
    line = [sys.executable, "-m", "sphinx", *strict, "-D", "plot_gallery=0", "docs", "html"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False, env=_one_thread())
    assert done.returncode == 0, done.stderr
    for page in ("index", "api", "command-line", "gallery/index", "api/swapwise.LeastSquares"):
        assert (tmp_path / "html" / f"{page}.html").exists(), page


def _put_picture(path):
    """Put one where a page has that of the gallery, which is not run here."""
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "docs" / "images" / "digits-graph.png", path)


def _one_thread():
    return os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
