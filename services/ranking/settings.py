"""The knobs of the ranking service; how a window is ordered is not among them: that comes with each call."""

from services.shared.runtime.settings import RpcSettings, settings_of


class RankingServiceSettings(RpcSettings):
    """Ranking keeps no state and calls nobody, so it has only what every gRPC service has."""

    model_config = settings_of("ranking")
