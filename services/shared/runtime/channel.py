"""Channels to other services: one per peer and process, balanced over all its replicas, quick to come back."""

import json

import grpc

# A batch of vectors or a document of some megabytes is one message; gRPC's own limit, 4 MiB, is 1,365 vectors of 768.
MAX_MESSAGE_BYTES = 32 * 1024 * 1024


def open_channel(target: str) -> grpc.aio.Channel:
    """A channel to `target` (`host:port`, or `dns:///name:port` over a headless Service for all its pods).

    It connects lazily and tries again within two seconds of a peer's return. gRPC's own retries are off: ours know what
    may be tried again and how much time is left.
    """
    return grpc.aio.insecure_channel(
        target,
        options=[
            ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
            ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
            ("grpc.service_config", json.dumps({"loadBalancingConfig": [{"round_robin": {}}]})),
            ("grpc.enable_retries", 0),
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.min_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", 2000),
            ("grpc.keepalive_time_ms", 30_000),
            ("grpc.keepalive_timeout_ms", 5_000),
        ],
    )
