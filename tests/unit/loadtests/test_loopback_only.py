import pytest

from loadtests.loopback_only import loopback_target, loopback_url
from services.local.failure import Failure


def test_this_machine_is_taken() -> None:
    assert loopback_url("http://127.0.0.1:8080") == "http://127.0.0.1:8080"
    assert loopback_url("http://127.0.0.1:8080/") == "http://127.0.0.1:8080"
    assert loopback_target("127.0.0.1:50051") == "127.0.0.1:50051"


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org:80",
        "http://127.0.0.1.example.org:80",
        "http://127.0.0.1:80@example.org:80",
        "http://user@127.0.0.1:80",
        "http://localhost:8080",
        "http://10.0.0.1:8080",
        "http://0.0.0.0:8080",
        "https://127.0.0.1:8080",
        "http://127.0.0.1",
        "127.0.0.1:8080",
        "",
    ],
)
def test_any_other_target_is_refused_with_a_sentence(url: str) -> None:
    with pytest.raises(Failure, match=r"load goes to this machine only: .* is not http://127\.0\.0\.1:PORT"):
        loopback_url(url)


@pytest.mark.parametrize("target", ["example.org:80", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:99999", "dns:///x:1", ""])
def test_any_other_service_is_refused_with_a_sentence(target: str) -> None:
    with pytest.raises(Failure, match="load goes to this machine only"):
        loopback_target(target)
