"""What this folder reads from files: frozen, nothing in it unknown, and a fault told in one sentence."""

from pathlib import Path
from typing import Any, Self

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from services.local.failure import Failure


class StrictFile(BaseModel):
    """A value with exactly the fields that are declared."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def read(cls, file: Path) -> Self:
        """The content of a YAML file. Raises Failure naming the file and the place in it."""
        try:
            content: Any = yaml.safe_load(file.read_text())
            return cls.model_validate(content)
        except OSError as error:
            raise Failure(f"{file} cannot be read: {error.strerror}") from error
        except yaml.YAMLError as error:
            raise Failure(f"{file} is no YAML: {' '.join(str(error).split())}") from error
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(step) for step in first["loc"]) or "the whole file"
            told = "there is no such key" if first["type"] == "extra_forbidden" else first["msg"]
            raise Failure(f"{file}, {place}: {told.removeprefix('Value error, ')}") from error
