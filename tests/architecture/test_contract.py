"""The protos against the committed contract: nothing that callers rely on goes or changes."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    EnumValueDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
    OneofDescriptorProto,
    ServiceDescriptorProto,
)

from protos.breaking import breaking_changes
from tests.architecture.source_files import ROOT

STRING, INT32 = FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_INT32
OPTIONAL, REPEATED = FieldDescriptorProto.LABEL_OPTIONAL, FieldDescriptorProto.LABEL_REPEATED


def a_contract() -> FileDescriptorSet:
    """One service with one RPC, a message with an inner one, and an enum."""
    request = DescriptorProto(
        name="AskRequest",
        field=[
            FieldDescriptorProto(name="query", number=1, type=STRING, label=OPTIONAL),
            FieldDescriptorProto(name="limit", number=2, type=INT32, label=OPTIONAL),
        ],
        nested_type=[
            DescriptorProto(
                name="Page", field=[FieldDescriptorProto(name="size", number=1, type=INT32, label=OPTIONAL)]
            )
        ],
        oneof_decl=[OneofDescriptorProto(name="place")],
    )
    values = [
        EnumValueDescriptorProto(name="MODE_UNSPECIFIED", number=0),
        EnumValueDescriptorProto(name="MODE_A", number=1),
    ]
    asks = MethodDescriptorProto(name="Ask", input_type=".p.v1.AskRequest", output_type=".p.v1.AskRequest")
    return FileDescriptorSet(
        file=[
            FileDescriptorProto(
                name="p/v1/p.proto",
                package="p.v1",
                message_type=[request],
                enum_type=[EnumDescriptorProto(name="Mode", value=values)],
                service=[ServiceDescriptorProto(name="AskService", method=[asks])],
            )
        ]
    )


@pytest.fixture
def changed() -> FileDescriptorSet:
    return a_contract()


def sentences(changed: FileDescriptorSet) -> list[str]:
    return breaking_changes(a_contract(), changed)


def query(changed: FileDescriptorSet) -> FieldDescriptorProto:
    return changed.file[0].message_type[0].field[0]


def test_protos_break_nothing_of_the_committed_contract() -> None:
    assert [line for line in generate(ROOT / "protos", "--check")[1].splitlines() if "callers rely on it" in line] == []


def test_additions_break_nothing(changed: FileDescriptorSet) -> None:
    file = changed.file[0]
    file.message_type[0].field.add(name="locale", number=3, type=STRING, label=OPTIONAL)
    file.message_type.add(name="AskResponse")
    file.enum_type[0].value.add(name="MODE_B", number=2)
    file.service[0].method.add(name="Tell", input_type=".p.v1.AskRequest", output_type=".p.v1.AskResponse")
    changed.file.add(name="p/v1/more.proto", package="p.v1")

    assert sentences(changed) == []


def test_removed_field_is_named(changed: FileDescriptorSet) -> None:
    del changed.file[0].message_type[0].field[0]
    assert sentences(changed) == ["field p.v1.AskRequest.query (number 1) was removed"]


def test_field_whose_number_is_reserved_is_removed_all_the_same(changed: FileDescriptorSet) -> None:
    del changed.file[0].message_type[0].field[0]
    changed.file[0].message_type[0].reserved_range.add(start=1, end=2)
    assert sentences(changed) == ["field p.v1.AskRequest.query (number 1) was removed"]


def test_renamed_field_is_named(changed: FileDescriptorSet) -> None:
    query(changed).name = "question"
    assert sentences(changed) == ["field p.v1.AskRequest.query (number 1) was renamed to question"]


def test_renumbered_field_is_named(changed: FileDescriptorSet) -> None:
    query(changed).number = 9
    assert sentences(changed) == ["field p.v1.AskRequest.query was renumbered from 1 to 9"]


def test_number_given_to_another_field_is_told_of_both(changed: FileDescriptorSet) -> None:
    query(changed).number, changed.file[0].message_type[0].field[1].number = 2, 1
    assert sentences(changed) == [
        "field p.v1.AskRequest.query was renumbered from 1 to 2",
        "field p.v1.AskRequest.limit was renumbered from 2 to 1",
    ]


def test_retyped_field_is_named(changed: FileDescriptorSet) -> None:
    query(changed).type = INT32
    assert sentences(changed) == ["field p.v1.AskRequest.query was retyped from string to int32"]


def test_field_that_becomes_repeated_is_retyped(changed: FileDescriptorSet) -> None:
    query(changed).label = REPEATED
    assert sentences(changed) == ["field p.v1.AskRequest.query was retyped from string to repeated string"]


def test_field_that_gets_presence_is_retyped(changed: FileDescriptorSet) -> None:
    query(changed).proto3_optional = True
    assert sentences(changed) == ["field p.v1.AskRequest.query was retyped from string to optional string"]


def test_field_that_moves_into_a_oneof_is_retyped(changed: FileDescriptorSet) -> None:
    query(changed).oneof_index = 0
    assert sentences(changed) == ["field p.v1.AskRequest.query was retyped from string to string in oneof place"]


def test_field_of_an_inner_message_is_named_with_both(changed: FileDescriptorSet) -> None:
    del changed.file[0].message_type[0].nested_type[0].field[0]
    assert sentences(changed) == ["field p.v1.AskRequest.Page.size (number 1) was removed"]


def test_removed_message_enum_service_and_file_are_named(changed: FileDescriptorSet) -> None:
    for part in ("message_type", "enum_type", "service"):
        changed.file[0].ClearField(part)
    assert sentences(changed) == [
        "message p.v1.AskRequest was removed",
        "enum p.v1.Mode was removed",
        "service p.v1.AskService was removed",
    ]
    changed.ClearField("file")
    assert sentences(changed) == ["file p/v1/p.proto was removed"]


def test_renamed_package_is_named(changed: FileDescriptorSet) -> None:
    changed.file[0].package = "p.v2"
    assert sentences(changed) == ["package p.v1 of p/v1/p.proto was renamed to p.v2"]


@pytest.mark.parametrize(
    ("name", "number", "sentence"),
    [
        ("MODE_B", 1, "value p.v1.Mode.MODE_A (number 1) was renamed to MODE_B"),
        ("MODE_A", 2, "value p.v1.Mode.MODE_A was renumbered from 1 to 2"),
        ("MODE_B", 2, "value p.v1.Mode.MODE_A (number 1) was removed"),
    ],
)
def test_changed_value_of_an_enum_is_named(changed: FileDescriptorSet, name: str, number: int, sentence: str) -> None:
    value = changed.file[0].enum_type[0].value[1]
    value.name, value.number = name, number
    assert sentences(changed) == [sentence]


def test_removed_rpc_is_named(changed: FileDescriptorSet) -> None:
    changed.file[0].service[0].ClearField("method")
    assert sentences(changed) == ["RPC p.v1.AskService.Ask was removed"]


def test_rpc_that_begins_to_stream_is_named(changed: FileDescriptorSet) -> None:
    changed.file[0].service[0].method[0].server_streaming = True
    assert sentences(changed) == [
        "RPC p.v1.AskService.Ask was changed from (p.v1.AskRequest) returns (p.v1.AskRequest)"
        " to (p.v1.AskRequest) returns (stream p.v1.AskRequest)"
    ]


@pytest.fixture
def protos(tmp_path: Path) -> Path:
    """A copy of the protos that a test may change."""
    return shutil.copytree(ROOT / "protos", tmp_path / "protos", ignore=shutil.ignore_patterns("__pycache__"))


def generate(protos: Path, *arguments: str) -> tuple[int, str]:
    command = (sys.executable, str(protos / "generate.py"), *arguments)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_breaking_change_is_refused_and_leaves_the_contract_and_the_code(protos: Path) -> None:
    source = protos / "plumbline" / "embedding" / "v1" / "vectors.proto"
    before = {path: path.read_bytes() for path in protos.rglob("*") if path.suffix in (".binpb", ".py", ".pyi")}
    source.write_text(source.read_text().replace(" rows = ", " row_count = "))

    code, said = generate(protos)

    renamed = "field plumbline.embedding.v1.PackedVectors.rows (number 4) was renamed to row_count"
    assert (code, said) == (1, f"{renamed}: callers rely on it; add beside it instead\n")
    assert {path: path.read_bytes() for path in before} == before


def test_addition_makes_the_contract_stale_until_it_is_generated(protos: Path) -> None:
    source = protos / "plumbline" / "embedding" / "v1" / "vectors.proto"
    source.write_text(f"{source.read_text()}\nmessage Another {{}}\n")

    assert "protos/contract.binpb is stale: run `make protos`" in generate(protos, "--check")[1]
    assert generate(protos) == (0, "")
    assert generate(protos, "--check") == (0, "")
