"""The declarations of the book's own style sheets, in a form that a browser engine can test."""

import tinycss2

GROUPS = ("media", "supports", "container", "layer")  # at-rules that hold rules
DEEPEST = 8  # levels of variables in variables: a cycle of them would never end


def declarations(folders):
    """Return each declaration of the style sheets below some folders.

    Each is a dictionary with its file, line, property and value, and the conditions of the
    `@supports` rules around it. An engine accepts any value with a variable in it and rejects it
    only when it computes the style, so variables are replaced by their first definitions. A
    property that is also given with an engine's prefix is omitted: an engine reads one of the two.
    """
    found = []
    for sheet in sorted({sheet for folder in folders for sheet in folder.rglob("*.css")}):
        rules = _parse(tinycss2.parse_stylesheet, sheet.read_text(encoding="utf-8"))
        found += [{"file": sheet.name, **declaration} for declaration in _walk(rules, ())]
    variables = {}
    for one in found:
        if one["property"].startswith("--"):
            variables.setdefault(one["property"], one["value"])
    return [
        {**one, "value": _replace(one["value"], variables)}
        for one in found
        if not one["property"].startswith("--")
    ]


def _parse(parser, text):
    return parser(text, skip_comments=True, skip_whitespace=True)


def _walk(rules, conditions):
    for rule in rules:
        assert rule.type != "error", rule.message
        if rule.type == "qualified-rule":
            inside = _parse(tinycss2.parse_blocks_contents, rule.content)
            names = {part.name for part in inside}
            for part in inside:
                prefixed = {f"-webkit-{part.name}", f"-moz-{part.name}"} & names
                if not prefixed and not part.name.startswith(("-webkit-", "-moz-")):
                    yield {
                        "line": part.source_line,
                        "property": part.name,
                        "value": tinycss2.serialize(part.value).strip(),
                        "conditions": list(conditions),
                    }
        elif rule.lower_at_keyword in GROUPS and rule.content is not None:
            around = conditions
            if rule.lower_at_keyword == "supports":
                around = (*conditions, tinycss2.serialize(rule.prelude).strip())
            yield from _walk(_parse(tinycss2.parse_rule_list, rule.content), around)


def _replace(value, variables, depth=0):
    """Return a CSS value with its variables replaced by their values."""
    return "".join(
        _one(part, variables, depth) for part in tinycss2.parse_component_value_list(value)
    )


def _one(part, variables, depth):
    if part.type == "() block":
        return f"({''.join(_one(inner, variables, depth) for inner in part.content)})"
    if part.type != "function":
        return part.serialize()
    if part.lower_name == "var" and depth < DEEPEST:
        name, _, fallback = tinycss2.serialize(part.arguments).partition(",")
        known = variables.get(name.strip(), fallback.strip())
        return _replace(known, variables, depth + 1) if known else part.serialize()
    return f"{part.name}({''.join(_one(inner, variables, depth) for inner in part.arguments)})"
