"""Remembers answers by what they depend on, so that nothing needs to track changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from functools import cache, cached_property, lru_cache, partial
from threading import Lock
from typing import Concatenate, Generic, ParamSpec, TypeVar, cast

T = TypeVar("T")
P = ParamSpec("P")
Owner = TypeVar("Owner")


class _Same:
    """A value as a key, compared by identity."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value


def remembered(make: Callable[P, T], size: int = 16) -> Callable[P, T]:
    """Returns a function of frozen values, cached by the identity of its latest arguments.

    >>> listed = remembered(list)
    >>> word = "ab"
    >>> listed(word) is listed(word)
    True
    """

    @lru_cache(maxsize=size)
    def made(*keys: _Same, **named: _Same) -> T:
        values, more = [key.value for key in keys], {name: key.value for name, key in named.items()}
        return cast("Callable[..., T]", make)(*values, **more)

    def answer(*args: P.args, **kwargs: P.kwargs) -> T:
        return made(*map(_Same, args), **{name: _Same(value) for name, value in kwargs.items()})

    return answer


def answered_once(
    method: Callable[Concatenate[Owner, P], T],
) -> cached_property[Callable[P, T]]:
    """Returns a method whose answers a frozen object keeps as long as it lives."""
    return cached_property(lambda owner: cast("Callable[P, T]", cache(partial(method, owner))))


class Memo(Generic[T]):
    """Answers by key; the least recently used are forgotten. Threads may share it.

    >>> memo = Memo[int]()
    >>> memo.answers(["a", "b"], lambda missing: [10 for index in missing])
    [10, 10]
    >>> memo.answers(["b", "c"], lambda missing: [20 for index in missing])
    [10, 20]
    """

    def __init__(self, size: int = 1024) -> None:
        self._answers: OrderedDict[Hashable, T] = OrderedDict()
        self._size = size
        self._lock = Lock()

    def answers(
        self, keys: Sequence[Hashable], work: Callable[[list[int]], Sequence[T]]
    ) -> list[T]:
        """Returns the answers under some keys.

        `work` computes the missing ones, all at once, from their indices among the keys.
        """
        with self._lock:
            known = {key: self._answers[key] for key in keys if key in self._answers}
        missing = [index for index, key in enumerate(keys) if key not in known]
        # Not locked: another thread may do the same work, with the same result.
        answers = work(missing) if missing else ()
        new = dict(zip((keys[index] for index in missing), answers, strict=True))
        with self._lock:
            # The known ones, too: another thread may have pushed them out meanwhile.
            self._answers |= known | new
            for key in keys:
                self._answers.move_to_end(key)
            while len(self._answers) > self._size:
                self._answers.popitem(last=False)
        return [new[key] if key in new else known[key] for key in keys]

    def answer(self, key: Hashable, work: Callable[[], T]) -> T:
        """Returns the answer under one key."""
        return self.answers([key], lambda _: [work()])[0]
