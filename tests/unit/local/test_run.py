import socket
from pathlib import Path

import pytest

from services.local.data_folder import held
from services.local.environment import SERVICES, Options
from services.local.failure import Failure
from services.local.run import run, service_specs
from services.local.settings import LocalSettings


def test_a_second_run_on_the_same_data_is_refused(tmp_path: Path) -> None:
    with held(tmp_path), pytest.raises(Failure, match="is in use by another `make run`"):
        run(LocalSettings(data=tmp_path))


def test_a_taken_port_is_one_sentence_that_names_the_variable(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(Failure, match=rf"^port {port} is taken by another program; .*make run PORT="):
            run(LocalSettings(data=tmp_path, port=port))


def test_the_gateway_serves_on_the_given_port_and_every_service_on_its_own(tmp_path: Path) -> None:
    options = Options(data=tmp_path, model="/models/a-model", otlp_port=1)
    specs = service_specs(8080, options)
    ports = [spec.environment[f"PLUMBLINE_{spec.name.upper()}_PORT"] for spec in specs]
    assert [spec.name for spec in specs] == list(SERVICES)
    assert ports[-1] == "8080"
    assert len(set(ports)) == len(SERVICES)


def test_logs_of_the_run_before_are_put_aside(tmp_path: Path) -> None:
    options = Options(data=tmp_path, model="/models/a-model", otlp_port=1)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "search.log").write_text("before")
    service_specs(8080, options)
    assert (tmp_path / "logs" / "search.1.log").read_text() == "before"
    assert not (tmp_path / "logs" / "search.log").exists()
