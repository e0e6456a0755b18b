"""That campaigns see what is wrong: each is run on a subject that is broken on purpose."""

from __future__ import annotations

from contextlib import suppress

from swapwise.experiments.store import Store, StoreError
from tests.fuzz import stores


def _claims(check, seeds):
    return {claim for seed in seeds for claim, _ in check(seed).violations}


def test_a_store_that_skips_damaged_lines_is_seen(monkeypatch):
    def forgiving(self):
        self._file.seek(0)
        for number, line in enumerate(self._file.read().splitlines(), start=1):
            with suppress(StoreError):
                row = self._checked(line, number)
                self.rows[row["trial"]] = row

    monkeypatch.setattr(Store, "_read", forgiving)
    assert "what is not told costs no row but the last" in _claims(stores.check, range(20))
