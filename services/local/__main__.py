"""The commands behind `make run`, `make weights`, `make sample-papers` and `make trace`."""

import sys

from services.local.settings import LocalSettings, WrongSetting, read_settings
from services.local.weights import WeightsMissing, ensure_weights, known_models


def weights(settings: LocalSettings) -> None:
    models = known_models()
    if settings.model not in models:
        raise WrongSetting(f"MODEL: {settings.model} is not known; known are {', '.join(models)}")
    print(ensure_weights(models[settings.model], settings.models_folder))


def main(arguments: list[str]) -> int:
    try:
        settings = read_settings()
        weights(settings)
    except (WrongSetting, WeightsMissing) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
