"""The program: ``swapwise``, or ``python -m swapwise``."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    try:
        from swapwise.cli import app

        app()
    except KeyboardInterrupt:  # before any command has begun: while it is imported
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
