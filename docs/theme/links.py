#!/usr/bin/env python3
"""A preprocessor of mdBook: links that leave this folder lead to the repository, and pages made of a file at its root have its links.

Reads the book as JSON and writes it back; what is not a link stays as it is.
"""
import json
import posixpath
import re
import sys

# Pages that include a file at the root of the repository.
AT_ROOT = {"design.md", "security.md"}
PAGES = {"DESIGN.md": "design.md", "SECURITY.md": "security.md", "README.md": "quick-start.md"}
LINK = re.compile(r"(?<!\\)\]\((?![a-z]+:|#)([^)\s]+)\)")


def chapters(items):
    for item in items:
        if isinstance(item, dict) and "Chapter" in item:
            yield item["Chapter"]
            yield from chapters(item["Chapter"]["sub_items"])


def main():
    context, book = json.load(sys.stdin)
    repository = context["config"]["output"]["html"]["git-repository-url"]
    for chapter in chapters(book.get("items") or book["sections"]):
        page = chapter["path"]
        folder = "" if page in AT_ROOT else "docs"

        def target(match):
            path, mark, anchor = match[1].partition("#")
            path = posixpath.normpath(posixpath.join(folder, path))
            if path in PAGES:
                path = posixpath.join("docs", PAGES[path])
            inside = path.startswith("docs/")
            # Measured figures are the only part of the README that is linked to and has no page.
            if inside and path.endswith("quick-start.md") and anchor:
                inside, path = False, "README.md"
            path = path.removeprefix("docs/") if inside else f"{repository}/blob/main/{path}"
            return f"]({path}{mark}{anchor})"

        parts = re.split(r"(^```.*?^```)", chapter["content"], flags=re.S | re.M)
        chapter["content"] = "".join(part if part.startswith("```") else LINK.sub(target, part) for part in parts)
    json.dump(book, sys.stdout)


# `links.py supports html` is asked first.
if sys.argv[1:2] != ["supports"]:
    main()
