"""What tests of HTML pages share: a reader of their tags and text, and a real browser to open them in."""

import os
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

EVIL = "<script>alert(1)</script>"
VOID = {"meta", "img", "br", "link", "input", "hr"}
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy".*?>')


class Reader(HTMLParser):
    """All tags with their attributes, the text inside elements with an id, and whether tags are balanced."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.open, self.text = [], [], {}
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs).get("id")))

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop()[0] == tag

    def handle_data(self, data):
        for _, name in self.open:
            self.text[name] = self.text.get(name, "") + data

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def harmless(document):
    """Whether no name of a column became an element of the page, or a link that does more than move."""
    tags = Reader(document).tags
    links = {attrs[name] for _, attrs in tags for name in ("href", "xlink:href") if name in attrs}
    handlers = [name for _, attrs in tags for name in attrs if name.startswith("on")]
    return "img" not in dict(tags) and not handlers and all(link.startswith("#") for link in links)


def charts_of(document):
    """The sections (or panels) that have a chart with something in it."""
    boxes = re.findall(r'<figure id="panel-(\w+)">(.*?)</figure>', document, re.DOTALL)
    return [name for name, box in boxes if "data-t=" in box]


def then(page, script):
    """The page with something done to it; its own policy would not let a second script run."""
    return POLICY.sub("", page).replace("</body>", f"<script>{script}</script></body>")


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
