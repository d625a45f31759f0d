"""Comparison of extracted metadata with the labels: authors, description, tags, image and others.

Texts are compared by :func:`~newscrawl.text.words`: NFC, without case, white space and punctuation.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args
from urllib.parse import urljoin, urlsplit

from newscrawl.items import Media
from newscrawl.lab.corpora.metrics import mean, score_of, site_mean
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.items import Article
    from newscrawl.lab.corpora.corpus import LabelledPage

MetadataField = Literal["authors", "description", "site_name", "section", "tags", "image"]
METADATA_FIELDS: tuple[MetadataField, ...] = get_args(MetadataField)

MIN_DESCRIPTION_F1 = 0.9
"""Minimum bag-of-words F1 of a description that counts as right."""

# such as -1024x768 in the name of a file, or /640x/ in its path
_IMAGE_SIZE = re.compile(r"[-_/]\d{2,5}x(?:\d{2,5})?(?=[-_./]|$)")


class MetadataValues(NamedTuple):
    """Extracted or labelled metadata of a page; empty if missing."""

    authors: Sequence[str] = ()
    description: str | None = None
    site_name: str | None = None
    section: str | None = None
    tags: Sequence[str] = ()
    #: URL
    image: str | None = None

    @classmethod
    def of(cls, source: Article | LabelledPage) -> MetadataValues:
        """Return the metadata of an article or of a label."""
        image = source.image
        return cls(
            source.authors,
            source.description,
            source.site_name,
            source.section,
            source.tags,
            image.url if isinstance(image, Media) else image,
        )

    def parts(self, name: MetadataField, base: str | None) -> Counter[str]:
        """Return the comparable parts of a field; *base* is the URL of the page.

        Authors and tags are sets of texts, a description is a bag of words, and all others have one
        part: site name and section the text, the image its URL (see :func:`image_key`).
        """
        value = getattr(self, name)
        if not value:
            return Counter()
        if name == "description":
            return Counter(words(value))
        if name == "image":
            return Counter([image_key(value, base)])
        texts = value if name in ("authors", "tags") else [value]
        return Counter({folded for text in texts if (folded := " ".join(words(text)))})


class FieldMatch(NamedTuple):
    """Parts of an extracted field and of its label (:meth:`MetadataValues.parts`)."""

    #: the parts are the same, of a description with an F1 of at least :data:`MIN_DESCRIPTION_F1`
    right: bool
    #: number of parts in both, in the extracted field, in the label
    common: int
    output: int
    gold: int

    @property
    def given(self) -> bool:
        """Whether the field was extracted."""
        return self.output > 0

    @property
    def f1(self) -> float:
        """F1 of the parts."""
        return score_of(self.common, self.output, self.gold).f1


def field_matches(page: LabelledPage, output: MetadataValues) -> dict[MetadataField, FieldMatch]:
    """Compare *output* with the labels of *page*, for the labelled fields only."""
    label = MetadataValues.of(page)
    return {
        name: _match(name, output.parts(name, page.url), gold)
        for name in METADATA_FIELDS
        if (gold := label.parts(name, page.url))
    }


def _match(name: MetadataField, output: Counter[str], gold: Counter[str]) -> FieldMatch:
    common = (output & gold).total()
    found = FieldMatch(output == gold, common, output.total(), gold.total())
    if name == "description":
        return found._replace(right=found.f1 >= MIN_DESCRIPTION_F1)
    return found


def image_key(url: str, base: str | None) -> str:
    """Return host and path of *url* without the size of the image in them."""
    try:
        parts = urlsplit(urljoin(base or "", url))
    except ValueError:
        return url
    return parts.netloc.lower() + _IMAGE_SIZE.sub("", parts.path)


def metadata_means(
    matches: Iterable[tuple[str, dict[MetadataField, FieldMatch]]],
) -> dict[MetadataField, dict[str, Any]]:
    """Return the means of each field over labelled pages, given (site, matches of the page)."""
    found = list(matches)
    return {
        name: _means([(site, fields[name]) for site, fields in found if name in fields])
        for name in METADATA_FIELDS
    }


def _means(matches: Sequence[tuple[str, FieldMatch]]) -> dict[str, Any]:
    """Return shares of right and silent pages, and precision and recall of all parts together."""
    fields = [match for _, match in matches]
    micro = score_of(*(sum(match[part] for match in fields) for part in (1, 2, 3)))
    return {
        "pages": len(fields),
        "right": mean([match.right for match in fields]),
        "site_right": site_mean((site, match.right) for site, match in matches),
        **micro._asdict(),
        "mean_f1": mean([match.f1 for match in fields]),
        "silent": mean([not match.given for match in fields]),
    }
