"""The knobs of the ranking service; how a window is ordered is not among them: that comes with each call."""

from pydantic import Field

from services.shared.runtime.settings import RpcSettings, settings_of


class RankingServiceSettings(RpcSettings):
    """Ranking keeps no state; it calls nobody but the cross-encoder, where a collection asks for that."""

    model_config = settings_of("ranking")

    embedding_target: str | None = Field(
        None,
        min_length=1,
        description="host:port of the embedding service, for its cross-encoder; unset ranks without one, and says so "
        "where a collection asks for it.",
    )
