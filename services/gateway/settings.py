"""The knobs of the gateway."""

import ipaddress
from typing import Self

from pydantic import Field, SecretStr, model_validator

from services.shared.runtime.settings import ProcessSettings, settings_of

_MIB = 1024 * 1024


class GatewaySettings(ProcessSettings):
    """Where the services are, how long each kind of call may take and how large a body may be.

    `metrics_port` is not used: /metrics is a path of the gateway's own port.
    """

    model_config = settings_of("gateway")

    search_target: str = Field(min_length=1, description="host:port of the search service.")
    answer_target: str = Field(min_length=1, description="host:port of the answer service.")
    ingest_target: str = Field(min_length=1, description="host:port of the ingest service.")
    embedding_target: str = Field(min_length=1, description="host:port of the embedding service, for the status only.")
    ranking_target: str = Field(min_length=1, description="host:port of the ranking service, for the status only.")
    catalog_url: SecretStr = Field(
        min_length=1,
        description="Address of the catalog: sqlite:////folder/catalog.db on one machine, else "
        "postgresql://user:password@host:port/database; one process holds at most 8 connections to it.",
    )

    search_timeout_s: float = Field(10.0, ge=0.1, le=120, description="Longest search; longer is 504.")
    answer_timeout_s: float = Field(60.0, ge=1, le=600, description="Longest answer, from the question to its end.")
    write_timeout_s: float = Field(30.0, ge=1, le=600, description="Longest wait until a write is accepted.")
    upload_timeout_s: float = Field(600.0, ge=1, le=3600, description="Longest upload, the caller's own time included.")
    watch_timeout_s: float = Field(
        300.0, ge=1, le=3600, description="Longest stream of a job's progress; the caller then asks again."
    )
    promote_timeout_s: float = Field(
        300.0, ge=1, le=3600, description="Longest promotion: two searches for each judged query of the collection."
    )
    status_timeout_s: float = Field(1.0, ge=0.05, le=10, description="Longest wait for one service's state.")
    catalog_timeout_s: float = Field(
        2.0, ge=0.05, le=30, description="Longest wait for the catalog, before the last known collection is used."
    )
    max_body_bytes: int = Field(
        16 * _MIB, ge=1024, le=30 * _MIB, description="Largest JSON body, held in memory; what gRPC takes is 32 MiB."
    )
    max_upload_bytes: int = Field(
        1024 * _MIB, ge=1024, le=2**40, description="Largest upload of files, streamed and never held in memory."
    )

    @property
    def longest_request_s(self) -> float:
        """No request lasts longer, whatever its calls may take."""
        return max(
            self.search_timeout_s,
            self.answer_timeout_s,
            self.write_timeout_s,
            self.upload_timeout_s,
            self.watch_timeout_s,
            self.promote_timeout_s,
        )

    @model_validator(mode="after")
    def _is_reached_from_this_machine_only(self) -> Self:
        # Without keys, whoever reaches the port reads and deletes everything.
        if not _is_loopback(self.host):
            raise ValueError(
                f"{self.environment_prefix}HOST={self.host} opens the API to the network, and this version has no "
                "keys: use 127.0.0.1"
            )
        return self


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
