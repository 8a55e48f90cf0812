"""Data as scripts, because a page opened from a file may load scripts and no other files."""

import json
from typing import Any


def data_script(name: str, data: object) -> str:
    r"""Return data as a script that a page can load.

    Parameters
    ----------
    name : str
        The module's name, by which the scripts import it.
    data : object
        Data as JSON can hold them; NaN and infinity are refused.

    Examples
    --------
    >>> data_script("two", [1, 2])
    'define("two",["exports"],e=>{e.default=[1,2]});\n'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f'define("{name}",["exports"],e=>{{e.default={text}}});\n'


def read_data(script: str) -> Any:
    """Return the data of a script that `data_script` made.

    Examples
    --------
    >>> read_data(data_script("two", [1, 2]))
    [1, 2]
    """
    return json.loads(script.partition("e.default=")[2].removesuffix("});\n"))
