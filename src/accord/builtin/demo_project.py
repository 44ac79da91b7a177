"""A small project with one planted mistake, for `accord demo`, the documentation and the tests.

It needs nothing but Python: its tests are unittest's.  They fail, the mistake is a name that is
nearly right, and `mean` is used in three files.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

FILES = {
    "README.md": """
        # Measured

        Small statistics for lists of numbers, and a one-line report about them.

        ```
        python3 report.py 3 4 8
        ```

        Run the tests with `python3 -m unittest`.
    """,
    "calc.py": '''
        """Statistics of a list of numbers."""


        def mean(values):
            """The arithmetic mean; an empty list has none."""
            if not values:
                raise ValueError("no values")
            return sum(value) / len(values)


        def spread(values):
            """How far the largest number is from the smallest."""
            return max(values) - min(values)
    ''',
    "report.py": '''
        """One line about a list of numbers."""

        import sys

        from calc import mean, spread


        def summary(name, values):
            """The line that a report shows."""
            return f"{name}: {len(values)} values, mean {mean(values):.2f}, spread {spread(values)}"


        def main(arguments):
            print(summary("numbers", [float(one) for one in arguments]))


        if __name__ == "__main__":
            main(sys.argv[1:])
    ''',
    "test_calc.py": '''
        """The tests; run them with `python3 -m unittest`."""

        import unittest

        from calc import mean, spread
        from report import summary


        class CalcTest(unittest.TestCase):
            def test_mean(self):
                self.assertEqual(mean([1, 2, 6]), 3)

            def test_the_mean_of_nothing(self):
                with self.assertRaises(ValueError):
                    mean([])

            def test_spread(self):
                self.assertEqual(spread([3, 9, 4]), 6)

            def test_summary(self):
                self.assertEqual(summary("x", [1, 3]), "x: 2 values, mean 2.00, spread 2")


        if __name__ == "__main__":
            unittest.main()
    ''',
}
"""The files, as they are written; indented here, not there."""


def write_demo_project(folder: Path) -> None:
    """Write the project into a folder that exists."""
    for name, text in FILES.items():
        Path(folder, name).write_text(dedent(text).lstrip(), encoding="utf-8")
