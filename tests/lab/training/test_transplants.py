"""Constructs inserted into labelled pages."""

from pathlib import Path

import pytest

from newscrawl.document.document import parse_document
from newscrawl.lab.corpora.corpus import LabelledPage
from newscrawl.lab.training.block_training import body_example
from newscrawl.lab.training.page_templates import LabelledStory
from newscrawl.lab.training.transplants import NOT_OF_STORY, OF_STORY, transplant
from newscrawl.text import squeeze

BODY = [
    "The bridge was closed in the spring, when divers found two of its piers moved. Nobody was hurt.",
    "Since then a ferry carries nine thousand passengers a day. The queues reach as far as the mill.",
    "Engineers drove forty steel tubes into the bed of the river. They waited for six weeks of frost.",
    "On Monday the first lorry crossed at walking pace, watched by a brass band. It rained all morning.",
    "The works cost eleven million, two more than planned. A commission will ask why by next summer.",
    "Shopkeepers on the eastern shore hope for customers. Half of the shops have stood empty for long.",
]
OTHERS = [
    LabelledStory(
        f"Otters return to canal {n} of the county",
        [f"Two otters with {n} cubs have been filmed below the lock. Anglers keep their lines out of the reeds."],
        "2024-05-12",
        "Ada Meyer",
    )
    for n in range(9)
]  # fmt: skip


PAGE = LabelledPage(
    "corpus", "1", Path(), "https://gazette.example/bridge", "gazette.example", "tune",
    title="Repairs will close the bridge", body="\n".join(BODY),
)  # fmt: skip


def html() -> bytes:
    story = "".join(f"<p>{text}</p>" for text in BODY)
    return (
        f"<body><main><h1>Repairs</h1><div>{story}</div></main><footer>x</footer></body>".encode()
    )


@pytest.mark.parametrize("name", [*OF_STORY, *NOT_OF_STORY])
@pytest.mark.parametrize("small", [True, False])
def test_labels_each_construct(name: str, *, small: bool):
    others = {*OF_STORY, *NOT_OF_STORY} - {name}
    inserted = 0
    for number in range(8):
        made = transplant(PAGE, None if small else html(), OTHERS, number, without=others)
        assert made is not None
        assert made == transplant(PAGE, None if small else html(), OTHERS, number, without=others)
        assert set(made.labels.values()) <= {name in OF_STORY}
        document = parse_document(made.html)
        texts = {squeeze(document.text[row]) for row in document.text_nodes()}
        example = body_example(document, "\n".join(BODY), made.labels)
        inserted += len(texts.intersection(made.labels))
        own = sum(text in texts for text in BODY)
        assert own >= (1 if small else len(BODY))
        assert sum(example.labels) >= own - 1
    assert inserted
