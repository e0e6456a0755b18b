"""What tests of HTML pages share: a reader of their tags and text, and a real browser to open them in."""

import os
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
from plotly.offline import get_plotlyjs

EVIL = "<script>alert(1)</script>"
VOID = {"meta", "img", "br", "link", "input", "hr"}


def own(page):
    """The page without plotly.js, which takes long to read and is not ours to judge."""
    return page.replace(get_plotlyjs(), "")


class Reader(HTMLParser):
    """All tags with their attributes, the text inside elements with an id, and whether tags are balanced."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.open, self.text = [], [], {}
        self.feed(own(page))
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs).get("id")))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop()[0] == tag

    def handle_data(self, data):
        for _, name in self.open:
            self.text[name] = self.text.get(name, "") + data

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture
def opened(tmp_path):
    """A function that opens a page in Chromium and returns its document once scripts have run."""
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next((found for found in map(shutil.which, names) if found), None)
    if browser is None:
        reason = "chromium is not installed: the report was not opened; apt-get install chromium"
        (pytest.fail if os.environ.get("SWAPWISE_NEEDS_CHROMIUM") else pytest.skip)(reason)

    def open_page(page):
        path = tmp_path / "report.html"
        path.write_text(page, encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
        # No name is found: whatever a page asks the network for fails, and is complained of.
        options += ["--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={tmp_path / 'profile'}"]
        options += ["--virtual-time-budget=10000", "--dump-dom", path.as_uri()]
        done = subprocess.run([browser, *options], capture_output=True, text=True, timeout=120, check=True)
        # Chromium complains of the machine too; only what the page does comes from its console.
        complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        assert complaints == [], "\n".join(complaints)
        return done.stdout

    return open_page
