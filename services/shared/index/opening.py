"""Opens the index that the settings name: the one place that knows which engines there are."""

# Each engine's client takes seconds to import on a busy machine, so only the one that is used is imported.

from pathlib import Path

from services.shared.index.port import Index
from services.shared.index.settings import IndexSettings
from services.shared.index.weaviate_node import parse_nodes


async def open_index(settings: IndexSettings) -> Index:
    """The embedded index in a folder, or that on the nodes of a Weaviate.

    Raises:
        DependencyUnavailable: the folder can neither be read nor made. Whether Weaviate answers is told by the first
            call.
    """
    if settings.weaviate_nodes is None:
        from services.shared.index.lance_index import LanceIndex

        return await LanceIndex.open(Path(settings.index_folder or ""))
    from services.shared.index.weaviate_index import WeaviateIndex

    key = settings.weaviate_api_key
    return await WeaviateIndex.open(
        parse_nodes(settings.weaviate_nodes),
        replication_factor=settings.weaviate_replication_factor,
        api_key=key.get_secret_value() if key else None,
    )
