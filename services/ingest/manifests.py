"""What a new generation of a collection is built with."""

from services.ingest.ports import Model
from services.shared.catalog.collection_settings import CollectionSettings
from services.shared.catalog.manifest import Manifest
from services.shared.runtime.errors import InvalidInput
from services.shared.text.analyzer import ANALYZER_VERSION


def manifest_of(model: Model, profile: str, settings: CollectionSettings) -> Manifest:
    """The manifest by the settings that hold now. Raises InvalidInput for dimensions that the model does not give."""
    dimensions = settings.vectors.dimensions or model.dimensions
    offered = (*model.shorter_dimensions, model.dimensions)
    if dimensions not in offered:
        sizes = " or ".join(map(str, offered))
        problem = f"{model.name} gives {sizes} dimensions, not {dimensions}"
        raise InvalidInput(problem, field="settings.vectors.dimensions")
    return Manifest(
        model=model.name,
        weights_sha256=model.weights_sha256,
        dimensions=dimensions,
        profile=profile,
        chunk_target=settings.chunking.target,
        chunk_overlap=settings.chunking.overlap,
        chunk_minimum=settings.chunking.minimum,
        analyzer_version=ANALYZER_VERSION,
        precision=settings.vectors.precision,
    )
