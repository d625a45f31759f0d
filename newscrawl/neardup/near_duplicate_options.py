"""What decides whether two stories are near-duplicates, and the defaults."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal

SketchName = Literal["fracminhash", "spotsigs"]


@dataclass(frozen=True, slots=True)
class Options:
    """Parameters of sketches, comparison and clustering.

    An index is bound to the first five; the others may differ each time that it is opened.
    """

    #: ``fracminhash``: word shingles; ``spotsigs``: shingles at stop words (Theobald et al. 2008)
    sketch: SketchName = "fracminhash"
    #: words of a shingle; in scripts without spaces, characters
    shingle: int = 3
    #: one shingle in so many is kept of the longest texts; a power of two
    scale: int = 4
    #: hashes of a text that are kept before every second one goes, and again, down to ``scale``
    short: int = 200
    #: seed of the hashes
    seed: int = 0
    #: least share of the smaller sketch that is in the other one
    containment: float = 0.4
    #: least share of all hashes of both that are in both
    jaccard: float = 0.08
    #: least hashes that two sketches share: common phrases alone are fewer
    least_shared: int = 6
    #: words below which the numbers of two texts must agree, too
    number_words: int = 150
    #: least share of the numbers of the text with fewer of them that are in the other text
    numbers: float = 0.5
    #: what lies further apart is not compared; None: everything is
    window: timedelta | None = timedelta(hours=72)
    #: pages of a site, other than versions of one story, on which a shingle is boilerplate;
    #: 0: never
    site_pages: int = 3
    #: two pages of one site that share so much of the smaller one, and of which neither begins as
    #: the other, share boilerplate
    site_shared: float = 0.1
    #: two pages of one site with this Jaccard and this containment are versions of one story,
    #: whatever they share
    version_jaccard: float = 0.5
    version_containment: float = 0.85
    #: least containment of two near-duplicates of one site: pages share frames and teasers there, of
    #: which not all are known to be boilerplate yet
    site_containment: float = 0.7
    #: least share of the pairs between two clusters that match where they become one; in a stream
    #: more, but where others have something in common
    majority: float = 0.5
    #: stories that stay in the index, out of the window too
    retain: int = 20_000

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for parameters that make no sense."""
        if self.sketch not in {"fracminhash", "spotsigs"}:
            raise ValueError(f"unknown sketch {self.sketch!r}: fracminhash or spotsigs")
        if self.scale < 1 or self.scale & (self.scale - 1):
            raise ValueError(f"scale must be a power of two, not {self.scale}")
        for name in ("shingle", "short", "least_shared"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        shares = (
            "containment",
            "jaccard",
            "numbers",
            "site_shared",
            "site_containment",
            "majority",
        )
        for name in shares:
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be between 0 and 1, not {getattr(self, name)}")

    @property
    def fingerprint(self) -> str:
        """What sketches must have in common to be comparable."""
        return f"{self.sketch} {self.shingle} 1/{self.scale} {self.short} {self.seed}"

    @property
    def within_site(self) -> Options:
        """By what two pages of one site are compared."""
        return replace(self, containment=max(self.containment, self.site_containment))

    @property
    def alike(self) -> Options:
        """By what two stories have something in common, near-duplicates or not."""
        return replace(self, containment=self.containment / 2, jaccard=self.jaccard / 2)

    @classmethod
    def of(cls, sketch: SketchName = "fracminhash", **changes: Any) -> Options:
        """Return the options tuned for a sketch, with *changes*."""
        return cls(sketch=sketch, **{**TUNED[sketch], **changes})


TUNED: dict[SketchName, dict[str, Any]] = {
    "fracminhash": {},
    "spotsigs": {"containment": 0.34, "jaccard": 0.08, "scale": 1},
}
"""What differs from the defaults for a sketch."""
