"""The tables of a report, in the data frame library that is installed."""

import importlib
from pathlib import Path
from typing import Any

from .errors import StapoError


class Tables:
    """`report.tables.steps`: a Polars frame, else a pandas one, else an Arrow table.

    The first of the three that is installed; `tables.polars("steps")`, `tables.pandas("steps")` and
    `tables.arrow("steps")` choose. `list(report.tables)` names them; each is read when it is asked for.
    """

    def __init__(self, folder, keep: Any = None) -> None:
        self._folder, self._keep = Path(folder), keep  # a temporary folder lives as long as its tables
        self._read: dict[str, Any] = {}

    def names(self) -> "list[str]":
        """The tables that are there."""
        return sorted(path.stem for path in self._folder.glob("*.parquet"))

    def __iter__(self):
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def __contains__(self, name) -> bool:
        return name in self.names()

    def __dir__(self):
        return [*super().__dir__(), *self.names()]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except StapoError as error:
            raise AttributeError(str(error)) from error

    def __getitem__(self, name):
        if name not in self._read:
            self._read[name] = self._in_what_is_installed(name)
        return self._read[name]

    def __repr__(self) -> str:
        return f"<tables: {', '.join(self.names()) or 'none'}>"

    def arrow(self, name):
        """As a pyarrow.Table."""
        import pyarrow.parquet as pq

        return pq.read_table(self._path(name))

    def polars(self, name):
        """As a polars.DataFrame."""
        import polars

        return polars.read_parquet(self._path(name))

    def pandas(self, name):
        """As a pandas.DataFrame."""
        importlib.import_module("pandas")
        return self.arrow(name).to_pandas()

    def _path(self, name):
        path = self._folder / f"{name}.parquet"
        if not path.is_file():
            raise StapoError(f"{path}: no such table", f"there are: {', '.join(self.names()) or 'none'}")
        return path

    def _in_what_is_installed(self, name):
        for read in (self.polars, self.pandas):
            try:
                return read(name)
            except ImportError:
                continue
        return self.arrow(name)
