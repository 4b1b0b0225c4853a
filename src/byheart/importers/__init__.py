"""What comes in from elsewhere: readers that turn files into episodes, and say what they could not take."""

from byheart.importers.base import BadRecord, Record
from byheart.importers.registry import FORMAT_NAMES, FORMATS, Format, detect, read, read_or_report
from byheart.importers.walk import Skipped, walk

__all__ = [
    "FORMATS",
    "FORMAT_NAMES",
    "BadRecord",
    "Format",
    "Record",
    "Skipped",
    "detect",
    "read",
    "read_or_report",
    "walk",
]
