"""Writes: functions of an open transaction's connection and plain values."""

import json
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched  # type: ignore
