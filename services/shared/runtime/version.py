"""The version of this installation, the same for all services."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("plumbline")
except PackageNotFoundError:  # a source tree on the path without an installation
    VERSION = "0+source"
