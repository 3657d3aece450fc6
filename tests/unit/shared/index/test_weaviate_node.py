import pytest

from services.shared.index.weaviate_node import WeaviateNode, format_nodes, parse_nodes


def test_a_node_is_a_host_and_its_two_ports() -> None:
    assert WeaviateNode.parse("weaviate-0.weaviate:8080:50051") == WeaviateNode("weaviate-0.weaviate", 8080, 50051)


def test_an_ipv6_host_stands_in_brackets() -> None:
    node = WeaviateNode.parse("[::1]:8080:50051")

    assert node == WeaviateNode("::1", 8080, 50051)
    assert str(node) == "[::1]:8080:50051"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "weaviate",
        "weaviate:8080",
        ":8080:50051",
        "http://weaviate:8080:50051",
        "weaviate:8080:http",
        "weaviate:0:50051",
        "weaviate:8080:65536",
        "weaviate:8080:-1",
        "weaviate:8080:٥",
        "::1:8080:50051",
        "[]:8080:50051",
        "we aviate:8080:50051",
    ],
)
def test_another_form_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not host:http_port:grpc_port, such as weaviate:8080:50051"):
        WeaviateNode.parse(text)


def test_a_list_keeps_its_order_and_may_have_spaces() -> None:
    nodes = parse_nodes("b:1:2, a:3:4")

    assert nodes == (WeaviateNode("b", 1, 2), WeaviateNode("a", 3, 4))
    assert format_nodes(nodes) == "b:1:2,a:3:4"


def test_an_empty_item_in_a_list_is_refused() -> None:
    with pytest.raises(ValueError, match="'' is not host"):
        parse_nodes("a:1:2,")


def test_a_node_named_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="names a node twice"):
        parse_nodes("a:1:2,a:1:2")
