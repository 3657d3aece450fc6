"""`probe.py ready|alive grpc|http PORT`: asks the service on this Pod's loopback address; exit code 0 means yes.

A kubelet's own HTTP and gRPC probes ask the Pod's address, on which nothing listens.
"""

import sys

_ADDRESS = "127.0.0.1"
_TIMEOUT_S = 5.0


def _http(question: str, port: int) -> str:
    """What is wrong, empty when nothing is; so for `_grpc`."""
    from http.client import HTTPConnection

    connection = HTTPConnection(_ADDRESS, port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", {"ready": "/readyz", "alive": "/healthz"}[question])
        status = connection.getresponse().status
    except OSError as error:
        return f"port {port} does not answer: {error}"
    return "" if status == 200 else f"port {port} answers {status}"


def _grpc(question: str, port: int) -> str:
    import grpc
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    with grpc.insecure_channel(f"{_ADDRESS}:{port}") as channel:
        try:
            answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=_TIMEOUT_S)
        except grpc.RpcError as error:
            return f"port {port} does not answer: {error.code().name}"
    # A process that says that it is not serving lives.
    if question == "alive" or answer.status == health_pb2.HealthCheckResponse.SERVING:
        return ""
    return f"port {port} answers {health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)}"


if __name__ == "__main__":
    asked, protocol, number = sys.argv[1:]
    fault = {"grpc": _grpc, "http": _http}[protocol](asked, int(number))
    sys.exit(fault or 0)
