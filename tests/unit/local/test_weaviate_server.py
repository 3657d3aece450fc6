from pathlib import Path

import pytest

from services.local.weaviate_server import ClusterPlan, node_variables, plan_cluster

PORTS = ("GRPC_PORT", "CLUSTER_GOSSIP_BIND_PORT", "CLUSTER_DATA_BIND_PORT", "RAFT_PORT", "RAFT_INTERNAL_RPC_PORT")


@pytest.fixture
def three() -> ClusterPlan:
    return plan_cluster(3, Path("/data"))


def test_no_two_ports_of_a_cluster_are_the_same(three: ClusterPlan) -> None:
    ports = [node.address.http_port for node in three.nodes]
    ports += [int(node_variables(three, node)[name]) for node in three.nodes for name in PORTS]
    assert len(set(ports)) == 18


def test_the_data_port_follows_gossip_and_the_port_of_rafts_calls_follows_raft(three: ClusterPlan) -> None:
    told = node_variables(three, three.nodes[1])
    assert int(told["CLUSTER_DATA_BIND_PORT"]) == int(told["CLUSTER_GOSSIP_BIND_PORT"]) + 1
    assert int(told["RAFT_INTERNAL_RPC_PORT"]) == int(told["RAFT_PORT"]) + 1


def test_every_node_knows_the_raft_port_of_all_and_joins_the_others(three: ClusterPlan) -> None:
    told = [node_variables(three, node) for node in three.nodes]
    raft = ",".join(f"node{number}:{told[number]['RAFT_PORT']}" for number in range(3))
    gossip = [f"127.0.0.1:{one['CLUSTER_GOSSIP_BIND_PORT']}" for one in told]
    assert {one["RAFT_JOIN"] for one in told} == {raft}
    assert told[0]["CLUSTER_JOIN"] == f"{gossip[1]},{gossip[2]}"
    assert told[2]["CLUSTER_JOIN"] == f"{gossip[0]},{gossip[1]}"


def test_nodes_keep_their_data_apart_and_one_alone_in_the_folder_itself(three: ClusterPlan) -> None:
    assert [node.data for node in three.nodes] == [Path(f"/data/node{number}") for number in range(3)]
    assert plan_cluster(1, Path("/data")).nodes[0].data == Path("/data")


def test_nobody_gets_in_without_the_key_which_every_cluster_draws_anew(three: ClusterPlan) -> None:
    told = node_variables(three, three.nodes[0])
    assert told["AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED"] == "false"
    assert told["AUTHENTICATION_APIKEY_ALLOWED_KEYS"] == three.api_key
    assert told["CLUSTER_BASIC_AUTH_PASSWORD"] == three.password != three.api_key
    assert plan_cluster(1, Path("/data")).api_key != three.api_key
    assert three.api_key not in repr(three) and three.password not in repr(three)


def test_nothing_is_told_to_others_and_no_class_or_vector_is_made_behind_our_back(three: ClusterPlan) -> None:
    told = node_variables(three, three.nodes[0])
    assert told["DISABLE_TELEMETRY"] == told["API_BASED_MODULES_DISABLED"] == told["GO_PROFILING_DISABLE"] == "true"
    assert (told["AUTOSCHEMA_ENABLED"], told["DEFAULT_VECTORIZER_MODULE"]) == ("false", "none")
