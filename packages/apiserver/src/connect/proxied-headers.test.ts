import { expect, test } from "vitest";
import { proxiedHeaders } from "./proxied-headers.ts";

const cases: Record<string, { headers: Record<string, string>; want: Record<string, string> }> = {
  "the headers of the workload's own request are kept": {
    headers: { accept: "text/html", cookie: "theme=dark", "x-request-id": "7" },
    want: { accept: "text/html", cookie: "theme=dark", "x-request-id": "7" },
  },
  "the cookie of a session of the web UI is removed": {
    headers: { cookie: "theme=dark; __Secure-flotilla-6443=secret; a=b" },
    want: { cookie: "theme=dark; a=b" },
  },
  "credentials are removed": {
    headers: { authorization: "Bearer s3cret", "proxy-authorization": "Basic YTpi" },
    want: {},
  },
  "impersonation headers are removed": {
    headers: {
      "impersonate-user": "eve",
      "impersonate-group": "ops",
      "impersonate-uid": "1",
      "impersonate-extra-team": "a",
    },
    want: {},
  },
  "front-proxy headers are removed": {
    headers: {
      "x-remote-user": "eve",
      "x-remote-group": "system:masters",
      "x-remote-uid": "1",
      "x-remote-extra-team": "a",
    },
    want: {},
  },
  "a token among the WebSocket protocols is removed": {
    headers: { "sec-websocket-protocol": "chat, base64url.bearer.authorization.k8s.io.czNjcmV0, log" },
    want: { "sec-websocket-protocol": "chat, log" },
  },
  "hop-by-hop headers are removed": {
    headers: {
      connection: "keep-alive, X-Hop",
      "keep-alive": "5",
      "x-hop": "1",
      te: "trailers",
      "transfer-encoding": "chunked",
      upgrade: "websocket",
    },
    want: {},
  },
  "HTTP/2 pseudo-headers are removed": {
    headers: { ":method": "GET", ":path": "/", ":authority": "hub", ":scheme": "https" },
    want: {},
  },
};
for (const [behaviour, { headers, want }] of Object.entries(cases)) {
  test(`proxied headers: ${behaviour}`, () => {
    expect(proxiedHeaders(headers)).toEqual(want);
  });
}
