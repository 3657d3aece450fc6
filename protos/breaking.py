"""What a change of the protos breaks for those who speak the contract as it was: nothing may be taken away or altered.

The contract is `protos/contract.binpb`, a FileDescriptorSet. Adding to it is allowed. Names count as numbers do: they
are in JSON, in generated code and in logs.
"""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
    ServiceDescriptorProto,
)

_Named = TypeVar("_Named", DescriptorProto, EnumDescriptorProto, ServiceDescriptorProto, MethodDescriptorProto)


def breaking_changes(before: FileDescriptorSet, after: FileDescriptorSet) -> list[str]:
    """A sentence for each thing of `before` that `after` lacks or has otherwise, in the order of the files."""
    now = {file.name: file for file in after.file}
    return [sentence for file in before.file for sentence in _file(file, now.get(file.name))]


def _file(before: FileDescriptorProto, after: FileDescriptorProto | None) -> Iterator[str]:
    if after is None:
        yield f"file {before.name} was removed"
        return
    if before.package != after.package:
        yield f"package {before.package} of {before.name} was renamed to {after.package}"
        return
    package = before.package
    for message, now in _pairs(before.message_type, after.message_type):
        yield from _message(f"{package}.{message.name}", message, now)
    for enum, enum_now in _pairs(before.enum_type, after.enum_type):
        yield from _enum(f"{package}.{enum.name}", enum, enum_now)
    for service, service_now in _pairs(before.service, after.service):
        yield from _service(f"{package}.{service.name}", service, service_now)


def _message(name: str, before: DescriptorProto, after: DescriptorProto | None) -> Iterator[str]:
    if after is None:
        yield f"message {name} was removed"
        return
    by_number = {field.number: field for field in after.field}
    by_name = {field.name: field for field in after.field}
    for field in before.field:
        path = f"{name}.{field.name}"
        same_name, same_number = by_name.get(field.name), by_number.get(field.number)
        if same_name is not None and same_name.number != field.number:
            yield f"field {path} was renumbered from {field.number} to {same_name.number}"
        elif same_number is None:
            yield f"field {path} (number {field.number}) was removed"
        elif same_name is None:
            yield f"field {path} (number {field.number}) was renamed to {same_number.name}"
        else:
            was, is_now = _type(field, before), _type(same_name, after)
            if was != is_now:
                yield f"field {path} was retyped from {was} to {is_now}"
    for nested, now in _pairs(before.nested_type, after.nested_type):
        yield from _message(f"{name}.{nested.name}", nested, now)
    for enum, enum_now in _pairs(before.enum_type, after.enum_type):
        yield from _enum(f"{name}.{enum.name}", enum, enum_now)


def _type(field: FieldDescriptorProto, message: DescriptorProto) -> str:
    """All that decides how a field is read and written, in words."""
    kind = field.type_name.removeprefix(".") or FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
    if field.label == FieldDescriptorProto.LABEL_REPEATED:
        return f"repeated {kind}"
    if field.proto3_optional:
        return f"optional {kind}"
    if field.HasField("oneof_index"):
        return f"{kind} in oneof {message.oneof_decl[field.oneof_index].name}"
    return kind


def _enum(name: str, before: EnumDescriptorProto, after: EnumDescriptorProto | None) -> Iterator[str]:
    if after is None:
        yield f"enum {name} was removed"
        return
    by_name = {value.name: value.number for value in after.value}
    by_number = {value.number: value.name for value in after.value}
    for value in before.value:
        path = f"{name}.{value.name}"
        if value.name in by_name and by_name[value.name] != value.number:
            yield f"value {path} was renumbered from {value.number} to {by_name[value.name]}"
        elif value.name not in by_name and value.number in by_number:
            yield f"value {path} (number {value.number}) was renamed to {by_number[value.number]}"
        elif value.name not in by_name:
            yield f"value {path} (number {value.number}) was removed"


def _service(name: str, before: ServiceDescriptorProto, after: ServiceDescriptorProto | None) -> Iterator[str]:
    if after is None:
        yield f"service {name} was removed"
        return
    for method, now in _pairs(before.method, after.method):
        path = f"{name}.{method.name}"
        if now is None:
            yield f"RPC {path} was removed"
        elif _signature(method) != _signature(now):
            yield f"RPC {path} was changed from {_signature(method)} to {_signature(now)}"


def _signature(method: MethodDescriptorProto) -> str:
    asked = f"{'stream ' if method.client_streaming else ''}{method.input_type.removeprefix('.')}"
    told = f"{'stream ' if method.server_streaming else ''}{method.output_type.removeprefix('.')}"
    return f"({asked}) returns ({told})"


def _pairs(before: Iterable[_Named], after: Iterable[_Named]) -> Iterator[tuple[_Named, _Named | None]]:
    """Each of `before` with the one of its name in `after`, None where there is none."""
    now = {one.name: one for one in after}
    return ((one, now.get(one.name)) for one in before)
