import { expect, test } from "vitest";
import { parseGoUrl } from "./go-url.ts";

const fine: Record<string, object> = {
  "https://a.b:6443/x?q=1#f": { scheme: "https", host: "a.b:6443", query: "q=1", fragment: "f" },
  "https://me@[::1]:6443": { scheme: "https", user: "me", host: "[::1]:6443", query: "", fragment: "" },
  "HTTPS://a": { scheme: "https", host: "a", query: "", fragment: "" },
  // Go parses a name with a port as a scheme with an opaque part.
  "localhost:6443": { scheme: "localhost", host: "", query: "", fragment: "" },
  "//a/b": { scheme: "", host: "a", query: "", fragment: "" },
  "a.b/c": { scheme: "", host: "", query: "", fragment: "" },
  "///a": { scheme: "", host: "", query: "", fragment: "" },
};
for (const [text, want] of Object.entries(fine)) {
  test(`parses ${text} as Go does`, () => {
    expect(parseGoUrl(text)).toEqual(want);
  });
}

const wrong: Record<string, string> = {
  ":a": "missing protocol scheme",
  "10.0.0.1:6443": "first path segment in URL cannot contain colon",
  "https://a b/": 'invalid character " " in host name',
  "https://a:b/": 'invalid port ":b" after host',
  "https://[::1": "missing ']' in host",
  "https://a/%zz": 'invalid URL escape "%zz"',
  "https://a b@c": "net/url: invalid userinfo",
  "https://a\tb": "net/url: invalid control character in URL",
};
for (const [text, want] of Object.entries(wrong)) {
  test(`rejects ${JSON.stringify(text)} with Go's message`, () => {
    expect(parseGoUrl(text)).toEqual({ problem: `parse ${JSON.stringify(text)}: ${want}` });
  });
}
