"""Estimates: counts match a real run, the rest grows as it should."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import typer
from latent import LatentEncoder, links_of

from conftest import Run
from treebridge.bridge.collect import collect
from treebridge.bridge.settings import CollectSettings
from treebridge.cli.options import count
from treebridge.cluster.plan import GPUS, expect, make_plan
from treebridge.cluster.rates import Rates
from treebridge.cluster.sample import LINKED, Sample
from treebridge.corpus.artificial import World
from treebridge.errors import TreebridgeError

WORLD = World(7)
RATES = Rates(
    encode=0.05, cluster=0.2, fit=1e-5, flops=5e10, memory=1e9, dims=(768, 512)
)  # seconds on some machine


def test_the_estimate_matches_a_run(tmp_path: Path) -> None:
    """Estimated from a third of the pairs; the cap leaves many sentences without kept links."""
    settings = CollectSettings(max_per_type=3, min_per_type=1)
    encoders = [LatentEncoder(WORLD.languages[name]) for name in ("source", "near")]
    found = collect(links_of(WORLD, "near", 1200), *encoders, settings, tmp_path / "run")
    pairs = [(pair, len(links)) for pair, links in links_of(WORLD, "near", 400)()]
    sample = Sample.of([pair for pair, _ in pairs], *encoders, settings)
    linked = sum(links for _, links in pairs) / sum(len(pair.target) for pair, _ in pairs)
    linked *= sample.linked / LINKED  # share that lead to a whole word
    encoded, kept = expect(replace(sample, linked=linked), 1200, settings)
    assert encoded == pytest.approx(len(set(found.where[:, 0].tolist())), rel=0.05)
    assert kept.sum() == pytest.approx(len(found), rel=0.05)
    assert encoded < 0.9 * 1200 and kept.max() == 3


def test_more_pairs_reach_the_cap() -> None:
    sample = Sample.drawn()
    plans = [make_plan(sample, RATES, n, 16) for n in (10**6, 10**7, 10**9, 10**10)]
    assert plans[0].vectors < plans[1].vectors < plans[2].vectors
    assert plans[3].vectors == plans[2].vectors == plans[3].types * 10_000  # all at the cap
    assert plans[3].encoded == pytest.approx(plans[3].vectors, rel=0.05)  # each in its own pair
    assert plans[0].encoded / 10**6 > plans[1].encoded / 10**7
    for plan in plans:
        assert plan.disk == plan.vectors * (2 * 768 + 2 * 512 + 12)
        assert plan.memory < 2e9


def test_workers_and_gpus_speed_up_parallel_steps() -> None:
    sample = Sample.drawn()
    one, many = (make_plan(sample, RATES, 10**6, workers).steps for workers in (1, 10))
    assert many[2].seconds == pytest.approx(one[2].seconds / 10)
    assert many[3].seconds == pytest.approx(one[3].seconds / 10)
    assert many[0] == one[0] and many[1] == one[1] and many[4] == one[4]
    gpu = make_plan(sample, RATES, 10**6, 10, "a100")
    assert gpu.speedup == pytest.approx(0.3 * 312e12 / 5e10)
    assert gpu.steps[2].seconds == one[1].seconds  # now the driver is the bottleneck
    assert all(make_plan(sample, RATES, 10**6, gpu=name).speedup > 1 for name in GPUS)
    with pytest.raises(TreebridgeError, match="unknown GPU 'abacus'; choose from a10, a100"):
        make_plan(sample, RATES, 10**6, gpu="abacus")


def test_a_sample_without_a_bitext() -> None:
    sample = Sample.drawn()
    flat = np.concatenate(sample.types)
    assert len(sample.types) == 5000 and 0.8 < len(flat) / 5000 / 25 < 0.9
    assert np.bincount(flat).max() > 0.03 * len(flat)  # the most frequent word


@pytest.mark.parametrize(
    ("text", "number"),
    [("60000", 60_000), ("60k", 60_000), ("50M", 50_000_000), ("1.5M", 1_500_000), ("1G", 10**9)],
)
def test_numbers_as_people_write_them(text: str, number: int) -> None:
    assert count(text) == number


@pytest.mark.parametrize("text", ["", "k", "0", "-3", "1.5", "3x", "50MM"])
def test_invalid_numbers(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="60k, 50M or 1G"):
        count(text)


@pytest.mark.filterwarnings("ignore:.*words have no vector")
def test_dry_run_command(here: Run, home: Path, tmp_path: Path) -> None:
    World(5).write_bitext(tmp_path / "near.tsv", "near", 300)
    vectors = ["--source", home / "vectors.vec", "--target", home / "vectors.vec"]
    common = ["bridge", "near.tsv", *vectors, "--dry-run", "--pairs", "50M", "--workers", 16]
    common += ["--anchor-words", "all"]
    shown = here(*common, "--gpu", "a100")
    assert shown.returncode == 0, shown.stderr
    assert "50,000,000 pairs on 16 GPUs (a100)" in shown.stdout
    for part in ("pairs to encode", "vectors per side", "disk", "memory per worker"):
        assert part in shown.stdout
    plan = json.loads(here(*common, "--json").stdout)
    assert plan["pairs"] == 50_000_000 and plan["hours"] > 0 and len(plan["steps"]) == 5
    assert not (tmp_path / "cache").exists()
    (tmp_path / "empty.tsv").touch()
    nothing = here("bridge", "empty.tsv", *vectors, "--dry-run")
    assert nothing.returncode == 2 and "the bitext is empty" in nothing.stderr
    assert "unknown GPU 'abacus'" in here(*common, "--gpu", "abacus").stderr
    missing = here("bridge", "near.tsv")
    assert missing.returncode == 2 and "--target-encoder ENCODER and -o FOLDER" in missing.stderr
