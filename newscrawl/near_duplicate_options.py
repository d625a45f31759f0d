"""Options of near-duplicate detection, and their defaults."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Options:
    """Parameters of sketches, comparison and clustering.

    The first four are fixed when an index is created; the others may change each time it is opened.
    """

    #: words per shingle; characters in scripts without spaces
    shingle: int = 3
    #: one in ``scale`` hashes of the longest texts is kept; a power of two
    scale: int = 4
    #: number of hashes of a text up to which all are kept; the scale doubles with longer texts
    full_limit: int = 200
    #: seed of the hashes
    seed: int = 0
    #: minimum share of the smaller sketch that is in the other
    containment: float = 0.4
    #: minimum share of all hashes of both sketches that are in both
    jaccard: float = 0.08
    #: minimum number of shared hashes; common phrases alone share fewer
    min_shared: int = 6
    #: minimum share of the numbers, and of numbers and names, of the short text with fewer that are
    #: in the other short text; one may differ
    details: float = 0.75
    #: words of the shorter text below which it must share more of its sketch, and this share
    short_words: int = 120
    short_containment: float = 0.55
    #: maximum time between two stories that are compared; None: no limit
    window: timedelta | None = timedelta(hours=72)
    #: number of pages of a site, versions counted once, on which a shingle is boilerplate; 0: never
    site_pages: int = 3
    #: minimum containment of two pages of a site with different openings that share boilerplate
    site_shared: float = 0.1
    #: minimum Jaccard and containment of two versions of a story on one site
    version_jaccard: float = 0.4
    version_containment: float = 0.95
    #: minimum containment of two versions, one of which begins with new text
    prepended_containment: float = 0.6
    #: minimum containment of near-duplicates on one site, whose boilerplate may not all be known
    site_containment: float = 0.7
    #: minimum share of matching pairs between two clusters that are merged
    majority: float = 0.5
    #: number of latest stories that stay in the index, even outside of the window
    retain: int = 20_000

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for invalid parameters."""
        if self.scale < 1 or self.scale & (self.scale - 1):
            raise ValueError(f"scale must be a power of two, not {self.scale}")
        for name in ("shingle", "full_limit", "min_shared"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in (
            "containment", "jaccard", "details", "short_containment", "site_shared", "site_containment", "majority",
        ):  # fmt: skip
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be between 0 and 1, not {getattr(self, name)}")

    @property
    def fingerprint(self) -> str:
        """Identifier of the sketch parameters; only sketches with the same one are comparable."""
        return f"fracminhash {self.shingle} 1/{self.scale} {self.full_limit} {self.seed}"

    @property
    def within_site(self) -> Options:
        """Options for two pages of one site."""
        return replace(self, containment=max(self.containment, self.site_containment))

    @property
    def related(self) -> Options:
        """Options for related stories, which need not be near-duplicates."""
        return replace(
            self,
            containment=self.containment / 2,
            short_containment=self.short_containment / 2,
            jaccard=self.jaccard / 2,
        )
