"""What a generation is built with by the settings of its collection."""

import pytest

from services.ingest.manifests import manifest_of
from services.ingest.ports import Model
from services.shared.catalog.profiles import Profile, resolve_settings
from services.shared.index.precision import Precision
from services.shared.runtime.errors import InvalidInput

MATRYOSHKA = Model("m", "ab", 768, lambda texts: [0] * len(texts), shorter_dimensions=(128, 256))


def test_whole_vectors_are_kept_where_nothing_is_said() -> None:
    manifest = manifest_of(MATRYOSHKA, "docs", resolve_settings(Profile.DOCS, {}, {}))
    assert (manifest.dimensions, manifest.precision) == (768, Precision.FULL)


def test_vectors_are_cut_and_kept_compactly_where_the_collection_says_so() -> None:
    settings = resolve_settings(Profile.DOCS, {}, {"vectors": {"dimensions": 256, "precision": "compact"}})
    manifest = manifest_of(MATRYOSHKA, "docs", settings)
    assert (manifest.dimensions, manifest.precision) == (256, Precision.COMPACT)


@pytest.mark.parametrize("dimensions", [255, 1024])
def test_dimensions_that_the_model_does_not_give_are_refused(dimensions: int) -> None:
    settings = resolve_settings(Profile.DOCS, {}, {"vectors": {"dimensions": dimensions}})
    with pytest.raises(InvalidInput, match="m gives 128 or 256 or 768 dimensions") as refusal:
        manifest_of(MATRYOSHKA, "docs", settings)
    assert refusal.value.field == "settings.vectors.dimensions"
