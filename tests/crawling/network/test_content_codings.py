"""Content codings, decoded within limits."""

import gzip
import random
import sys
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.crawling.network.content_codings import (
    CodingError,
    TooLargeError,
    decode,
    split_codings,
)
from tests.servers.coding_cases import EMPTY_MEMBER, padded, page, raw_deflate

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from collections.abc import Callable

MIB = 2**20
ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}


@given(st.binary(max_size=2000), st.lists(st.sampled_from(sorted(ENCODERS)), max_size=2))
def test_decodes_what_was_encoded(data: bytes, codings: list[str]):
    packed = data
    for coding in codings:
        packed = ENCODERS[coding](packed)
    found, rest = split_codings([", ".join(codings).encode()])
    assert (decode(packed, found, 3000), rest) == (data, [])


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([b"gzip"], (["gzip"], [])),
        ([b"GZIP ", b" br,"], (["br", "gzip"], [])),
        ([b"identity"], ([], [])),
        ([b"gzip, own"], ([], ["gzip", "own"])),
        ([b"own, gzip"], (["gzip"], ["own"])),
    ],
)
def test_split_codings(headers: list[bytes], expected: tuple[list[str], list[str]]):
    assert split_codings(headers) == expected


@pytest.mark.parametrize("number", [3, 150, 100_000])
def test_refuses_many_codings(number: int):
    with pytest.raises(CodingError, match=f"{number} codings"):
        split_codings([b"gzip"] * (number - 2) + [b"br, own"])


def test_gzip_as_servers_send_it():
    whole, half = page(), len(page()) // 2
    first, second = gzip.compress(whole[:half]), gzip.compress(whole[half:])
    assert decode(first + second, ["gzip"], MIB) == whole
    assert decode(first + bytes(100_000) + second, ["gzip"], MIB) == whole
    assert decode(first + second + b"<!-- not gzip -->", ["gzip"], MIB) == whole
    assert decode(padded(2, MIB), ["gzip"] * 2, 2 * MIB) == whole
    # Labelled so by mistake, once or twice.
    assert decode(whole, ["gzip"], MIB) == whole
    assert decode(first + second, ["gzip"] * 2, MIB) == whole
    with pytest.raises(CodingError, match="gzip"):
        decode(b"\x1f\x8c" + bytes(range(256)), ["gzip"], MIB)
    # A wrong checksum or length, or none.
    assert decode(gzip.compress(whole)[:-8] + bytes(8), ["gzip"], MIB) == whole
    assert decode(gzip.compress(whole)[:-8], ["gzip"], MIB) == whole
    # Extra field, name and comment in the header.
    head = b"\x1f\x8b\x08\x1c" + bytes(6) + b"\x03\0abc" + b"name\0" + b"comment\0"
    assert decode(head + raw_deflate(whole) + bytes(8), ["gzip"], MIB) == whole
    assert decode(raw_deflate(whole), ["deflate"], MIB) == whole


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_returns_the_start_of_a_cut_stream(coding: str):
    packed = ENCODERS[coding](page())
    start = decode(packed[: len(packed) // 2], [coding], MIB)
    assert page().startswith(start)
    assert start


@pytest.mark.parametrize("coding", ENCODERS)
def test_output_is_limited(coding: str):
    packed = ENCODERS[coding](bytes(64 * MIB))
    with pytest.raises(TooLargeError):
        decode(packed, [coding], MIB)
    assert decode(packed, [coding], MIB, cut=True) == bytes(MIB)


def test_members_are_limited():
    assert decode(EMPTY_MEMBER * 1000, ["gzip"], MIB) == b""
    with pytest.raises(CodingError, match="too many members"):
        decode(EMPTY_MEMBER * 10_000, ["gzip"], MIB)
    with pytest.raises(CodingError, match="more than"):
        decode(zstd.compress(b"a") * 2, ["zstd"], MIB)


@pytest.mark.parametrize("coding", ENCODERS)
def test_damaged_streams(coding: str):
    """Whatever the bytes, the result is an error or some content."""
    rng = random.Random(5)
    packed = ENCODERS[coding](page())
    for _ in range(200):
        damaged = bytearray(packed)
        for _ in range(rng.choice((1, 5, 50))):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        try:
            assert len(decode(bytes(damaged), [coding], MIB)) <= MIB
        except (CodingError, TooLargeError):
            continue


def test_damage_is_an_error():
    # gzip stores it in blocks of up to 64 KB.
    damaged = bytearray(gzip.compress(random.Random(1).randbytes(400_000)))
    damaged[-100_000:-30_000] = bytes(70_000)
    with pytest.raises(CodingError):
        decode(bytes(damaged), ["gzip"], MIB)
