"""
Visible characters: the same for every version of Python, although each has tables of another Unicode version.

Characters unassigned in Unicode 14.0 (Python 3.11) count as invisible; otherwise the same spec would render
differently on another version of Python.
"""

import functools
import re
import unicodedata

_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})

_ASSIGNED_LATER = """
    58b-58c 5c8-5c9 88f-897 b53-b54 c5c cdc cf3 ece 1acf-1af0 1b4e-1b4f 1b7f 1c89-1c8a 208f 209d-209f 20c1-20c4
    2427-2429 2b96 2e60-2e63 2ffc-2fff 31e4-31ef a7cb-a7cf a7d2 a7d4 a7da-a7f1 ab6c-ab6d fbc3-fbd2 fd90-fd91 fdc8-fdce
    105c0-105f3 107bb-107bf 10940-10959 10d40-10d8f 10ec2-10eff 1123f-11241 11380-113e2 116d0-116e3 11b00-11bf9
    11db0-11df1 11f00-11f5a 1246f 12475-1247f 12550-12686 1342f-143fa 16100-16139 16d40-16d79 16ea0-16ed3 16ff2-16ff6
    187f8-187ff 18cd6-18cff 18d09-191d2 1b123-1b132 1b155 1b168 1cc00-1cefd 1d127-1d128 1d1eb-1d1ff 1d250-1d2d3 1d6a6
    1db00-1db1c 1df1f-1dfff 1e030-1e08f 1e4d0-1e6ff 1f1ae 1f6d8-1f6dc 1f774-1f77f 1f7d9-1f7db 1f7f1-1f7ff 1f8b2-1f8d8
    1fa54-1fa57 1fa75-1fa77 1fa87-1fa8f 1faad-1faaf 1fabb-1fabf 1fac6-1facf 1fada-1fadf 1fae8-1faef 1faf7-1fafa
    1fbcb-1fbef 1fbfa 2b739-2b73f 2b81e 2cea2-2cead 2ebf0-2ee5d 31350-3fc3f
"""
"""
Characters assigned in Unicode 15.0 to 17.0, including gaps that are assigned in none.

Source: ``unicodedata.category`` of Python 3.11, 3.12 and 3.13 (14.0, 15.0, 15.1) and ``regex`` 2026.11.15 (17.0),
compared for every code point, 2026-11.
"""


def _character_class(ranges: str) -> str:
    ends = (item.partition("-")[::2] for item in ranges.split())
    return "".join(f"\\U{first:0>8}-\\U{last or first:0>8}" for first, last in ends)


_LATER = re.compile(f"[{_character_class(_ASSIGNED_LATER)}]")


@functools.lru_cache(4096)
def is_unseen(character: str) -> bool:
    """Return whether *character* is invisible: control, format, private, line separator, or not in Unicode 14.0."""
    return unicodedata.category(character) in _UNSEEN or _LATER.match(character) is not None
