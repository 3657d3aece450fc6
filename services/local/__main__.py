"""The commands behind `make run`, `make weights`, `make test-weaviate`, `make sample-papers` and `make trace`."""

import sys

from services.local.failure import Failure
from services.local.run import add_papers, run
from services.local.settings import LocalSettings, read_settings
from services.local.trace_receiver import TraceFile
from services.local.trace_tree import read_spans, render_tree, trace_of
from services.local.weaviate_build import ensure_server
from services.local.weights import folder_of

_USAGE = "usage: python -m services.local run | weights | weaviate-server | sample-papers | trace [REQUEST_ID]"


def main(arguments: list[str]) -> int:
    """Run one command; 1 when it failed, with its sentence on standard error."""
    try:
        _dispatch(arguments, read_settings())
    except Failure as failure:
        print(failure, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _dispatch(arguments: list[str], settings: LocalSettings) -> None:
    match arguments:
        case ["run"]:
            run(settings)
        case ["weights"]:
            print(folder_of(settings.model, settings.models_folder))
        case ["weaviate-server"]:
            print(ensure_server(settings.weaviate_folder))
        case ["sample-papers"]:
            add_papers(settings)
        case ["trace"]:
            print(recorded_trace(settings, None))
        case ["trace", request_id]:
            print(recorded_trace(settings, request_id or None))
        case _:
            raise Failure(_USAGE)


def recorded_trace(settings: LocalSettings, request_id: str | None) -> str:
    """The newest trace of this data folder, or that of one request, as a tree. Raises Failure when there is none."""
    file = TraceFile(settings.data)
    trace = trace_of(read_spans((file.previous, file.current)), request_id)
    if not trace:
        wanted = f"of request {request_id}" if request_id else "yet"
        raise Failure(f"there is no trace {wanted} in {settings.data}; spans arrive about a second after a request")
    return render_tree(trace)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
