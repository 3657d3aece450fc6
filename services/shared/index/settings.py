"""Which engine keeps the index, as the services that read and write it are told."""

from typing import Self

from pydantic import Field, SecretStr, field_validator, model_validator

from services.shared.index.weaviate_node import parse_nodes
from services.shared.runtime.settings import RpcSettings


class IndexSettings(RpcSettings):
    """Knobs of every service that opens the index: a folder, or the nodes of a Weaviate, the same for all of them."""

    index_folder: str | None = Field(
        None, min_length=1, description="Folder of the embedded index; unset, the index is in Weaviate."
    )
    weaviate_nodes: str | None = Field(
        None,
        description="host:http_port:grpc_port of each node of a Weaviate, comma-separated: one that is lost is passed "
        "over. Unset, the index is in a folder.",
    )
    weaviate_replication_factor: int = Field(
        1,
        ge=1,
        le=15,
        description="Nodes that keep a copy of each new generation: 1, or all of them. With 3, one may be lost without "
        "a failed read or write; each copy costs its disk, memory and a part of every write.",
    )
    weaviate_api_key: SecretStr | None = Field(
        None, min_length=1, description="Key that Weaviate asks for; unset where it lets everybody in."
    )

    @field_validator("weaviate_nodes")
    @classmethod
    def _nodes_are_well_formed(cls, text: str | None) -> str | None:
        if text is not None:
            parse_nodes(text)
        return text

    @model_validator(mode="after")
    def _engine_is_one(self) -> Self:
        if (self.index_folder is None) == (self.weaviate_nodes is None):
            raise ValueError(
                f"{self.environment_prefix}INDEX_FOLDER and {self.environment_prefix}WEAVIATE_NODES: give one of them, "
                f"the folder of an embedded index or the nodes of a Weaviate, and not "
                f"{'both' if self.index_folder else 'neither'}"
            )
        return self

    @model_validator(mode="after")
    def _copies_are_on_one_node_or_on_all(self) -> Self:
        """A read asks a majority of the copies, and finds them by asking that many nodes."""
        nodes = len(parse_nodes(self.weaviate_nodes)) if self.weaviate_nodes else 1
        if self.weaviate_replication_factor not in (1, nodes):
            raise ValueError(
                f"{self.environment_prefix}WEAVIATE_REPLICATION_FACTOR must be 1 or the number of "
                f"{self.environment_prefix}WEAVIATE_NODES, which is {nodes}"
            )
        return self
