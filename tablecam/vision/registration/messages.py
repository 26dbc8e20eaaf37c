"""What players are told of table tags and a bumped camera."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence


def registered(bump_px: float, tags: int) -> str:
    """The camera was bumped, and its new place is known."""
    return f"The camera was bumped by {_about(bump_px)} px: registered again from {tags} table tags"


def drifted(drift_px: float) -> str:
    """The camera sags or warms, and is followed."""
    return f"the camera has drifted by {drift_px:.2f} px and is followed"


def moving() -> str:
    """Something moves, and nobody knows yet what."""
    return "The camera is moving: positions are held until it rests"


def unclear(tags: Collection[int]) -> str:
    """Tags contradict each other, so that nobody can tell what moved."""
    return (
        f"The table tags contradict each other (look at {_named(tags)} first): positions are held "
        "until each lies in its place again"
    )


def too_few(left: Sequence[int], hidden: Collection[int], moved: Collection[int]) -> str:
    """Fewer tags than it takes to watch the camera."""
    causes = []
    if hidden:
        causes.append(f"{_named(hidden)} {'is' if len(hidden) == 1 else 'are'} not to be seen")
    if moved:
        causes.append(f"{_named(moved)} {'lies' if len(moved) == 1 else 'lie'} in a wrong place")
    seen = f"Only {_named(left)}" if left else "No table tag"
    because = f" ({' and '.join(causes)})" if causes else ""
    return f"{seen} can be relied on{because}: positions are held until three can"


def unwatched(listed: int) -> str:
    """The table file lists fewer tags than it takes."""
    return (
        f"The table file lists {listed} table tags: three are needed to notice when the camera is "
        "bumped"
    )


def moved(tags: Mapping[int, float]) -> str:
    """Tags that lie wrong by so many millimetres and are left out."""
    if len(tags) == 1:
        ((tag, beside_mm),) = tags.items()
        return f"Table tag {tag} was {_how(beside_mm)}: it is left out until it is put back"
    how = _listed([f"{tag} {_how(beside_mm)}" for tag, beside_mm in sorted(tags.items())])
    return f"Table tags were moved ({how}): they are left out until they are put back"


def _how(beside_mm: float) -> str:
    return f"moved by {_about(beside_mm)} mm" if beside_mm >= 1 else "turned"


def back(tags: Collection[int]) -> str:
    """Tags that lay wrong and count again."""
    return f"Table {_named(tags)} {'lies' if len(tags) == 1 else 'lie'} in place again"


def _named(tags: Collection[int]) -> str:
    names = _listed([str(tag) for tag in sorted(tags)])
    return f"tag {names}" if len(tags) == 1 else f"tags {names}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _about(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"
