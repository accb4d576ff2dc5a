"""tandem bench: that it measures what it says, not how fast that is."""
from __future__ import annotations

import json

import pytest

from conftest import ROOT
from tandem.bench import measure
from tandem.commands import bench


pytestmark = pytest.mark.release


@pytest.fixture(scope="module")
def document(tandem) -> dict:
    done = tandem("bench", "--quick", "--json", ROOT / "corpus" / "list")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_ratio_is_there(document) -> None:
    ratios = document["ratios"]
    assert document["schema"] == 1 and document["quick"] is True
    assert ratios["subject_vs_reference"]["geomean"] >= ratios["subject_vs_reference"]["min"] > 1
    assert 0 < ratios["harness_vs_bare_reference"] < 2
    assert ratios["subject_vs_pickle"] > 0 and 0 <= ratios["share_compared"] <= 1
    assert 0.5 < ratios["growth_exponent"] < 3
    speeds = document["programs_per_s"]
    assert speeds["subject"] > speeds["bare_reference"] > 0 and speeds["harness"] >= speeds["harness_with_objects"]


def test_what_is_not_measured_is_said_and_not_counted(document) -> None:
    unsupported = [row["family"] for row in document["families"] if row.get("why") == "subject-unsupported"]
    assert document["ratios"]["subject_vs_reference"]["not_measured"] == sorted(unsupported)
    for row in document["families"]:
        assert ("subject_vs_reference" in row) != ("why" in row)


def test_growth_has_time_and_memory_for_each_size(document) -> None:
    for grown in document["growth"]:
        assert [row["nodes"] > 900 for row in grown["sizes"]] == [True, True]
        assert all(row["ns_per_node"] > 0 and row["bytes_per_node"] > 8 for row in grown["sizes"])


def test_numbers_are_made_as_they_are_named() -> None:
    assert measure.geomean([1.0, 100.0]) == pytest.approx(10.0)
    assert measure.geomean([]) is None
    assert measure.exponent([(10, 100.0), (100, 10_000.0)]) == pytest.approx(2.0)
    rows = [
        {"family": "flat ints", "subject_vs_reference": 400.0, "subject_vs_pickle": 9.0, "nested": False},
        {"family": "dict trees", "subject_vs_reference": 100.0, "subject_vs_pickle": 2.0, "nested": True},
        {"family": "modules", "why": "subject-unsupported"},
    ]
    corpus = {"subject_vs_reference": 30.0, "geomean_of_programs": 200.0}
    made = bench.ratios(rows, [{"exponent": 1.1}, {"exponent": 1.3}], corpus, {}, None)
    assert made["subject_vs_reference"]["geomean"] == pytest.approx(200.0)
    assert made["subject_vs_reference"]["min_of"] == "dict trees"
    assert made["subject_vs_reference"]["not_measured"] == ["modules"]
    assert made["subject_vs_pickle"] == pytest.approx(2.0) and made["growth_exponent"] == 1.3
    assert made["harness_vs_bare_reference"] is None
