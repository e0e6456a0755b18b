"""The program: ``swapwise``, or ``python -m swapwise``."""

from __future__ import annotations


def main() -> None:
    import sys
    from io import TextIOWrapper

    try:
        from swapwise.app.cli import app
        from swapwise.app.cli.terminal import open_closed_streams

        open_closed_streams()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")  # a terminal that knows no ² is no reason to stop
        app()
    except KeyboardInterrupt:  # before any command has begun: while it is imported
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
