#!/usr/bin/env python3
"""A page of --html: every element ends where it is to, nothing is fetched, and
the policy allows exactly the style and the script that are in it."""

import base64
import hashlib
import html.parser
import json
import re
import sys

VOID = {"meta", "input"}
ALLOWED = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p",
           "strong", "ul", "li", "label", "input", "button", "output",
           "section", "details", "summary", "div", "span", "b", "i", "u",
           "meter", "script", "pre"}
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "id", "type",
              "hidden", "class", "open", "title", "value"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.path, self.inside, self.policy, self.faults = [], {}, "", []
        self.is_data = False

    def handle_starttag(self, tag, attrs):
        if tag not in ALLOWED:
            self.faults.append("<%s> in line %d" % (tag, self.getpos()[0]))
        for name, value in attrs:
            if name not in ATTRIBUTES:
                self.faults.append("%s= in line %d" % (name, self.getpos()[0]))
            if (name, value) == ("http-equiv", "Content-Security-Policy"):
                self.policy = dict(attrs)["content"]
        # A browser does not run it.
        self.is_data = ("type", "application/json") in attrs
        if tag not in VOID:
            self.path.append(tag)

    def handle_endtag(self, tag):
        if not self.path or self.path.pop() != tag:
            self.faults.append("</%s> in line %d" % (tag, self.getpos()[0]))

    def handle_data(self, data):
        if self.is_data and self.path[-1] == "script":
            json.loads(data)
        elif self.path and self.path[-1] in ("style", "script"):
            tag = self.path[-1]
            self.inside[tag] = self.inside.get(tag, "") + data


def main():
    page = Page()
    with open(sys.argv[1], encoding="utf-8", errors="strict") as file:
        page.feed(file.read())
    page.close()
    faults = page.faults
    if page.path:
        faults.append("not ended: %s" % page.path)
    for tag in ("style", "script"):
        digest = hashlib.sha256(page.inside.get(tag, "").encode()).digest()
        wanted = "%s-src 'sha256-%s'" % (tag, base64.b64encode(digest).decode())
        if wanted not in page.policy:
            faults.append("the policy is to say: %s" % wanted)
    if not re.match(r"default-src 'none';", page.policy):
        faults.append("policy: %s" % page.policy)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
