"""Load goes to this machine and nowhere else: a generator pointed at another one by mistake is an attack."""

from urllib.parse import urlsplit

from services.local.environment import LOOPBACK
from services.local.failure import Failure


def loopback_url(url: str) -> str:
    """`url` without its path when it is `http://127.0.0.1:PORT`, else Failure."""
    parts = urlsplit(url)
    if parts.scheme != "http" or not _is_loopback(parts.netloc):
        raise Failure(_sentence(url, f"http://{LOOPBACK}:PORT"))
    return f"http://{parts.netloc}"


def loopback_target(target: str) -> str:
    """`target` when it is `127.0.0.1:PORT`, else Failure."""
    if not _is_loopback(target):
        raise Failure(_sentence(target, f"{LOOPBACK}:PORT"))
    return target


def _is_loopback(address: str) -> bool:
    host, _, port = address.partition(":")
    return host == LOOPBACK and port.isascii() and port.isdigit() and 0 < int(port) < 65536


def _sentence(given: str, wanted: str) -> str:
    return f"load goes to this machine only: {given} is not {wanted}; forward a port to reach a service elsewhere"
