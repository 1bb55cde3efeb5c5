"""Wheels: zip files that pip installs; equal content gives equal bytes."""

import base64
import hashlib
import zipfile
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path

from treecrf.storage import open_replacing

__all__ = ["write_wheel"]

_TIME = (1980, 1, 1, 0, 0, 0)  # the first that a zip file can have
_CHUNK = 1 << 20
_WHEEL = """\
Wheel-Version: 1.0
Generator: treecrf
Root-Is-Purelib: true
Tag: py3-none-any
"""


def write_wheel(
    folder: Path,
    *,
    name: str,
    version: str,
    metadata: str,
    entry_points: Mapping[str, Mapping[str, str]],
    files: Mapping[str, Path | bytes],
    licences: Iterable[Path] = (),
) -> Path:
    """Write a wheel of pure data into a folder; returns its path.

    Args:
        folder: Where the wheel goes.
        name: Name of the package, normalised.
        version: Its version, normalised.
        metadata: Content of METADATA.
        entry_points: By group: the name and the object of each entry point.
        files: By the path in an environment: a file to copy, or its content.
        licences: Files of licences.
    """
    escaped = name.replace("-", "_")
    path = folder / f"{escaped}-{version}-py3-none-any.whl"
    info = f"{escaped}-{version}.dist-info"
    content = dict(files)
    content |= {f"{info}/licenses/{licence.name}": licence for licence in licences}
    content[f"{info}/METADATA"] = metadata.encode()
    content[f"{info}/WHEEL"] = _WHEEL.encode()
    content[f"{info}/entry_points.txt"] = _entry_points(entry_points).encode()
    record = []
    with open_replacing(path) as target, zipfile.ZipFile(target, "w") as archive:
        for inside, source in content.items():
            record.append(f"{inside},{_add(archive, inside, source)}\n")
        record.append(f"{info}/RECORD,,\n")
        _add(archive, f"{info}/RECORD", "".join(record).encode())
    return path


def _add(archive: zipfile.ZipFile, inside: str, source: Path | bytes) -> str:
    """Add a file; returns its hash and size as RECORD has them."""
    entry = zipfile.ZipInfo(inside, _TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o100644 << 16
    digest, size = hashlib.sha256(), 0
    with (
        BytesIO(source) if isinstance(source, bytes) else source.open("rb") as given,
        archive.open(entry, "w", force_zip64=isinstance(source, Path)) as file,
    ):
        while chunk := given.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
            file.write(chunk)
    text = base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()
    return f"sha256={text},{size}"


def _entry_points(groups: Mapping[str, Mapping[str, str]]) -> str:
    parts = []
    for group, points in groups.items():
        lines = [f"{name} = {target}\n" for name, target in points.items()]
        parts.append(f"[{group}]\n{''.join(lines)}")
    return "\n".join(parts)
