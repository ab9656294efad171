from typing import Any

VERSION: str
BUILD: str
STATUSES: dict[str, int]

def __getattr__(name: str) -> Any: ...
