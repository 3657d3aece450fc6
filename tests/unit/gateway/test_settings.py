import pytest
from pydantic import ValidationError

from services.gateway.settings import GatewaySettings

TARGETS = {f"{name}_target": "h:1" for name in ("search", "answer", "ingest", "embedding", "ranking")}


def settings(**knobs: object) -> GatewaySettings:
    return GatewaySettings(port=0, catalog_url="sqlite:////x.db", **TARGETS, **knobs)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_loopback_addresses_are_open_without_keys(host: str) -> None:
    assert settings(host=host).host == host


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "localhost.example.org", "127.0.0.1.nip.io"])
def test_every_other_address_is_refused(host: str) -> None:
    with pytest.raises(ValidationError, match="no keys"):
        settings(host=host)


def test_no_call_outlives_its_request() -> None:
    given = settings(upload_timeout_s=5, watch_timeout_s=7, promote_timeout_s=8, answer_timeout_s=90)
    assert given.longest_request_s == 90
