"""`python -m tests.fake_llm`: the server alone, for trying a client by hand."""

import argparse
import contextlib

import tests.fake_llm
from tests.fake_llm.server import DEFAULT, TITLE, FakeLLM


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(
        description=tests.fake_llm.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=8099)
    parser.add_argument("--log", help="write every request to this file, one JSON value a line")
    parser.add_argument("--default", default=DEFAULT)
    parser.add_argument("--title", default=TITLE)
    given = parser.parse_args()
    server = FakeLLM(given.port, log=given.log, default=given.default, title=given.title)
    print(f"fake model on {server.url}", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()


if __name__ == "__main__":
    main()
