"""Assertions that say what was expected and what was found."""


def equal(found: object, expected: object, what: str) -> None:
    assert found == expected, f"{what}: {found!r} instead of {expected!r}"


def within(found: float, expected: float, tolerance: float, what: str) -> None:
    """`tolerance` as a share of `expected`."""
    low, high = expected * (1 - tolerance), expected * (1 + tolerance)
    assert low <= found <= high, f"{what}: {found:.1f} instead of {expected:.1f} within {tolerance:.0%}"


def contains(text: str, words: str | list[str], what: str) -> None:
    """All of `words`, in whatever case."""
    for word in [words] if isinstance(words, str) else words:
        assert word.lower() in text.lower(), f"{what}: no `{word}` in\n{text[-3000:]}"
