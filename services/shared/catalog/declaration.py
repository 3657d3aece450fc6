"""What a user declares of a collection, checked once where it comes in. Pure."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from services.shared.catalog.collection_settings import CollectionSettings
from services.shared.catalog.fields import check_fields, check_locale
from services.shared.catalog.profiles import Overrides, Profile, resolve_settings
from services.shared.index.fields import FieldType
from services.shared.runtime.errors import InvalidInput

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A collection as declared; make one with `declare`, which checks it."""

    name: str
    profile: Profile
    locale: str
    fields: Mapping[str, FieldType]
    settings: Overrides

    def resolved_settings(self) -> CollectionSettings:
        """The settings that hold for this collection."""
        return resolve_settings(self.profile, self.fields, self.settings)


def declare(name: str, *, profile: str, locale: str, fields: Mapping[str, object], settings: Overrides) -> Declaration:
    """The declaration, once every part of it holds.

    Raises InvalidInput naming `name`, `profile`, `locale`, `fields.<name>` or `settings.<group>.<name>`.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInput("a name begins with a-z or 0-9 and has at most 62 more of a-z, 0-9, - and _", field="name")
    if profile not in set(Profile):
        raise InvalidInput(f"a profile is one of {', '.join(Profile)}", field="profile")
    declaration = Declaration(
        name=name,
        profile=Profile(profile),
        locale=check_locale(locale, field="locale"),
        fields=check_fields(fields),
        settings=json.loads(json.dumps(settings)),  # as it will be read back, so that the two compare
    )
    declaration.resolved_settings()
    return declaration
