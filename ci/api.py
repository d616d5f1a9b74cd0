"""Writes the public API of a library as text, from rustdoc's JSON: api.py FILE.json.

One item per line, with its path in the crate: types with their public fields, inherent functions, the traits that they implement and
the auto traits that they have. Blanket implementations are left out. Types of the standard library have their last name, those of other
crates the name of the crate before it.
"""

import json
import sys

# The formats of Rust 1.93 to 1.97.
KNOWN = range(56, 61)
STD = {"core", "alloc", "std"}
AUTO = ["Send", "Sync", "Unpin", "UnwindSafe", "RefUnwindSafe"]

data = json.load(open(sys.argv[1]))
if data["format_version"] not in KNOWN:
    print(f"not checked: api: rustdoc writes format {data['format_version']}, and ci/api.py reads {KNOWN[0]} to {KNOWN[-1]}")
    sys.exit(3)
index, paths = data["index"], data["paths"]
crates = {int(key): value["name"] for key, value in data["external_crates"].items()}
lines = []


def one(value):
    """Returns the only key of an enum in JSON, and what it holds."""
    return (value, None) if isinstance(value, str) else next(iter(value.items()))


def path(value):
    """Returns the name of a type or trait, with its arguments."""
    found = paths.get(str(value["id"]))
    name = (found["path"][-1] if found else value["path"].split("::")[-1])
    crate = crates.get(found["crate_id"], "") if found else ""
    return (f"{crate}::" if crate and crate not in STD else "") + name + arguments(value.get("args"))


def arguments(args):
    if not args:
        return ""
    kind, args = one(args)
    if kind == "parenthesized":
        return f"({', '.join(map(show, args['inputs']))})" + (f" -> {show(args['output'])}" if args["output"] else "")
    if kind != "angle_bracketed":
        return "(..)"
    shown = []
    for arg in args["args"]:
        of, arg = one(arg)
        shown.append({"type": show, "lifetime": str, "const": lambda const: const["expr"], "infer": lambda _: "_"}[of](arg))
    for constraint in args["constraints"]:
        of, binding = one(constraint["binding"])
        if of == "equality":
            of, binding = one(binding)
            shown.append(f"{constraint['name']} = {show(binding) if of == 'type' else binding['expr']}")
        else:
            shown.append(f"{constraint['name']}: {bounds(binding)}")
    return f"<{', '.join(shown)}>" if shown else ""


def bounds(of):
    shown = []
    for bound in of:
        kind, bound = one(bound)
        if kind == "outlives":
            shown.append(bound)
        elif kind == "use":
            shown.append(f"use<{', '.join(one(name)[1] for name in bound)}>")
        else:
            mark = {"none": "", "maybe": "?", "maybe_const": "~const "}[bound["modifier"]]
            shown.append(mark + binder(bound["generic_params"]) + path(bound["trait"]))
    return " + ".join(shown)


def binder(params):
    return f"for<{', '.join(param['name'] for param in params)}> " if params else ""


def show(of):
    """Returns a type."""
    kind, of = one(of)
    match kind:
        case "resolved_path":
            return path(of)
        case "dyn_trait":
            traits = [binder(each["generic_params"]) + path(each["trait"]) for each in of["traits"]]
            return f"dyn {' + '.join(traits + [of['lifetime']] * bool(of['lifetime']))}"
        case "generic" | "primitive":
            return of
        case "function_pointer":
            return f"{binder(of['generic_params'])}fn{signature(of['sig'], names=False)}"
        case "tuple":
            return f"({', '.join(map(show, of))}{',' * (len(of) == 1)})"
        case "slice":
            return f"[{show(of)}]"
        case "array":
            return f"[{show(of['type'])}; {of['len']}]"
        case "impl_trait":
            return f"impl {bounds(of)}"
        case "infer":
            return "_"
        case "raw_pointer":
            return f"*{'mut' if of['is_mutable'] else 'const'} {show(of['type'])}"
        case "borrowed_ref":
            return f"&{of['lifetime'] + ' ' if of['lifetime'] else ''}{'mut ' * of['is_mutable']}{show(of['type'])}"
        case "qualified_path":
            owner = show(of["self_type"])
            trait = path(of["trait"]) if of["trait"] else ""
            return (f"<{owner} as {trait}>" if trait else owner) + f"::{of['name']}{arguments(of['args'])}"
    raise ValueError(f"a type of the kind {kind}")


def signature(of, names=True):
    inputs = []
    for name, kind in of["inputs"]:
        shown = show(kind)
        if name == "self" and shown in ("Self", "&Self", "&mut Self"):
            inputs.append(shown.replace("Self", "self"))
        else:
            inputs.append(f"{name}: {shown}" if names else shown)
    return f"({', '.join(inputs)})" + (f" -> {show(of['output'])}" if of["output"] else "")


def generics(of):
    """Returns the parameters and the `where` of an item."""
    params, where = [], []
    for param in of["params"]:
        kind, value = one(param["kind"])
        if kind == "lifetime":
            params.append(param["name"] + (f": {' + '.join(value['outlives'])}" if value["outlives"] else ""))
        elif kind == "const":
            params.append(f"const {param['name']}: {show(value['type'])}" + (f" = {value['default']}" if value["default"] else ""))
        elif not value["is_synthetic"]:
            bound = f": {bounds(value['bounds'])}" if value["bounds"] else ""
            params.append(param["name"] + bound + (f" = {show(value['default'])}" if value["default"] else ""))
    for predicate in of["where_predicates"]:
        kind, value = one(predicate)
        if kind == "bound_predicate":
            where.append(f"{binder(value['generic_params'])}{show(value['type'])}: {bounds(value['bounds'])}")
        elif kind == "lifetime_predicate":
            where.append(f"{value['lifetime']}: {' + '.join(value['outlives'])}")
    return f"<{', '.join(params)}>" * bool(params), f" where {', '.join(where)}" * bool(where)


def function(name, of, start="pub "):
    params, where = generics(of["generics"])
    header = of["header"]
    words = "".join(word + " " for word in ("const", "unsafe", "async") if header[f"is_{word}"])
    return f"{start}{words}fn {name}{params}{signature(of['sig'])}{where}"


def fields(name, ids):
    for field in filter(None, (index.get(str(each)) for each in ids if each is not None)):
        if field["visibility"] in ("public", "default"):
            lines.append(f"pub {name}.{field['name']}: {show(field['inner']['struct_field'])}")


def attributes(item):
    marks = [mark for mark in ("must_use", "non_exhaustive") if any(mark in str(each) for each in item["attrs"])]
    return "".join(f"#[{mark}] " for mark in marks)


def associated(name, item, start):
    kind, of = one(item["inner"])
    named = f"{name}::{item['name']}"
    if kind == "function":
        lines.append(attributes(item) + function(named, of, start))
    elif kind == "assoc_const":
        lines.append(f"{start}const {named}: {show(of['type'])}")
    elif kind == "assoc_type":
        bound = f": {bounds(of['bounds'])}" if of["bounds"] else ""
        lines.append(f"{start}type {named}{bound}" + (f" = {show(of['type'])}" if of["type"] else ""))


def implementations(name, ids):
    simple, traits, auto = [], [], []
    for item in (index[str(each)] for each in ids if str(each) in index):
        of = item["inner"]["impl"]
        params, where = generics(of["generics"])
        if not of["trait"]:
            head = show(of["for"]).removeprefix(path({"id": item["id"], "path": name, "args": None}))
            for member in (index[str(each)] for each in of["items"] if str(each) in index):
                if member["visibility"] == "public":
                    associated(name, member, "pub ")
                    # Functions of `impl<C: Clock> Type<C>` exist only there.
                    if params or where or "<" in head:
                        lines[-1] += f"  [impl{params} {show(of['for'])}{where}]"
        elif of["is_synthetic"]:
            trait = of["trait"]["path"].split("::")[-1]
            if trait in AUTO:
                auto.append(("!" if of["is_negative"] else "") + trait + (f" [impl{params}{where}]" if where else ""))
        elif not of["blanket_impl"] and path(of["trait"]) not in ("StructuralPartialEq",):
            members = [index[str(each)] for each in of["items"] if str(each) in index]
            types = [f"type {m['name']} = {show(m['inner']['assoc_type']['type'])}" for m in members if "assoc_type" in m["inner"]]
            if params or types or one(of["for"])[0] != "resolved_path" or show(of["for"]) != name.split("::")[-1]:
                traits.append(f"impl{params} {path(of['trait'])} for {show(of['for'])}{where}" + f" {{ {'; '.join(types)} }}" * bool(types))
            else:
                simple.append(path(of["trait"]))
    if simple:
        lines.append(f"impl {', '.join(sorted(simple))} for {name}")
    lines.extend(sorted(traits))
    if auto:
        lines.append(f"auto {', '.join(sorted(auto))} for {name}")


def is_own(of):
    """Returns whether a type is this crate's. The implementations of its traits are listed with it."""
    kind, of = one(of)
    return kind == "resolved_path" and paths.get(str(of["id"]), {"crate_id": 0})["crate_id"] == 0


def write(item, name):
    kind, of = one(item["inner"])
    named = f"{name}::{item['name']}".removeprefix("::")
    start = attributes(item)
    match kind:
        case "module":
            module(item, name if item["id"] == data["root"] else named)
        case "use":
            target = index.get(str(of["id"]))
            if target is None or of["is_glob"] and "module" not in target["inner"]:
                lines.append(f"pub use {named.rpartition('::')[0]}::{of['name']} = {of['source']}".replace(" ::", " "))
            elif of["is_glob"]:
                module(target, name)
            else:
                write({**target, "name": of["name"]}, name)
        case "struct":
            params, where = generics(of["generics"])
            inside, of_kind = one(of["kind"])
            lines.append(f"{start}pub struct {named}{params}{where}")
            fields(named, of_kind["fields"] if inside == "plain" else of_kind or [])
            implementations(named, of["impls"])
        case "enum":
            params, where = generics(of["generics"])
            lines.append(f"{start}pub enum {named}{params}{where}")
            for variant in (index[str(each)] for each in of["variants"]):
                lines.append(f"{attributes(variant)}pub {named}::{variant['name']}")
                inside, value = one(variant["inner"]["variant"]["kind"])
                fields(f"{named}::{variant['name']}", [] if value is None else value["fields"] if inside == "struct" else value)
            implementations(named, of["impls"])
        case "trait":
            params, where = generics(of["generics"])
            above = f": {bounds(of['bounds'])}" if of["bounds"] else ""
            lines.append(f"{start}pub trait {named}{params}{above}{where}")
            for member in (index[str(each)] for each in of["items"]):
                provided = one(member["inner"])[1].get("has_body", False)
                associated(named, member, "provided " if provided else "required ")
            foreign = (index[str(each)] for each in of["implementations"] if str(each) in index)
            shown = []
            for each in foreign:
                given = each["inner"]["impl"]
                if not is_own(given["for"]):
                    inner, inner_where = generics(given["generics"])
                    shown.append(f"impl{inner} {path(given['trait'])} for {show(given['for'])}{inner_where}")
            lines.extend(sorted(shown))
        case "function":
            lines.append(start + function(named, of))
        case "constant":
            lines.append(f"pub const {named}: {show(of['type'])}")
        case "static":
            lines.append(f"pub static {named}: {show(of['type'])}")
        case "type_alias":
            params, where = generics(of["generics"])
            lines.append(f"pub type {named}{params} = {show(of['type'])}{where}")
        case "macro":
            lines.append(f"pub macro {named}!")
        case "proc_macro":
            lines.append(f"pub macro {named}")


def module(item, name):
    if item["id"] != data["root"]:
        lines.append(f"pub mod {name}")
    inside = [index[str(each)] for each in item["inner"]["module"]["items"] if str(each) in index]
    for each in sorted(inside, key=lambda each: (each["inner"].get("module") is not None, each["name"] or each["inner"]["use"]["name"])):
        if each["visibility"] == "public":
            write(each, name)


root = index[str(data["root"])]
module(root, "")
print("\n".join(lines))
